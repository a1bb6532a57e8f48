"""What a fitted model says about the columns: numbers first, pictures next."""

from s2mam.inspection.components import ComponentCurve, component_curves
from s2mam.inspection.display import ComponentDisplay, MaskDisplay

__all__ = ["ComponentCurve", "ComponentDisplay", "MaskDisplay", "component_curves"]
