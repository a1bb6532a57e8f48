"""What a fitted model says about the columns: numbers first, pictures next."""

from s2mam.inspection.bands import ComponentBands, component_bands
from s2mam.inspection.components import ComponentCurve, component_curves
from s2mam.inspection.contributions import ContributionDisplay
from s2mam.inspection.display import ComponentDisplay
from s2mam.inspection.graph import GraphDisplay
from s2mam.inspection.html import component_html
from s2mam.inspection.lookup import ComponentTable, component_table, export_lookup
from s2mam.inspection.lookup_predict import predict_from_lookup
from s2mam.inspection.mask_image import MaskImageDisplay
from s2mam.inspection.mask_path import MaskPathDisplay, MaskRecorder
from s2mam.inspection.masks import MaskDisplay
from s2mam.inspection.onnx import export_onnx
from s2mam.inspection.report import report
from s2mam.inspection.selection import SelectionDisplay
from s2mam.inspection.stability import SelectionStability, selection_stability
from s2mam.inspection.surface import DecisionSurfaceDisplay

__all__ = [
    "ComponentBands",
    "ComponentCurve",
    "ComponentDisplay",
    "ComponentTable",
    "ContributionDisplay",
    "DecisionSurfaceDisplay",
    "GraphDisplay",
    "MaskDisplay",
    "MaskImageDisplay",
    "MaskPathDisplay",
    "MaskRecorder",
    "SelectionDisplay",
    "SelectionStability",
    "component_bands",
    "component_curves",
    "component_html",
    "component_table",
    "export_lookup",
    "export_onnx",
    "predict_from_lookup",
    "report",
    "selection_stability",
]
