"""What the baselines made of neural networks share; it needs torch only when something is fitted.

A method is one file in ``s2mam/baselines/`` that holds its own mathematics; the rest is here:

``trunk``
    `build_mlp(sizes, ...)`, `build_trunk(n_inputs, ...)` and `build_net(n_inputs, n_outputs, ...)`
    (a trunk and a linear head): the one stack of layers.
``augment``
    `TableAugmenter(weak=..., strong=...)`: the one pair of weak and strong views of a row.
``tensors``
    `TableTensors`: a fit's rows on a device; `BatchStream(data, ...).draw(step)` gives a `Batch`
    with labelled rows (`x`, `y`) and rows of the unlabelled stream (`u`, `u_rows`).
``base``
    `DeepClassifier` and `DeepRegressor`, on top of the contract of all baselines.

and, for all networks of the package, in `s2mam.training`:

``backend``
    `load_torch()` (an error with the pip command when torch is missing), `read_device(device)`,
    `torch_session(seed, device)`, and `to_arrays` / `load_arrays` between networks and numpy.
``loop``
    `train(net, loss, plan, draw=..., ...)`: the one training loop. It keeps a running average of
    the weights, stops early (never by looking at rows to be predicted), reports progress and
    raises `TrainingDivergedError` when the loss is not finite.

A method writes::

    class MineRegressor(DeepRegressor):
        paper_name = "Mine"

        def __init__(self, *, max_iter=3000, ..., augmentation=None, device="cpu", progress=None,
                     random_state=None, scale="standard", categorical="auto", unlabeled="auto"):
            ...  # store, check nothing

        def _build(self, n_inputs, n_outputs):
            # A torch module made from the parameters alone: it is built again to predict.
            # Combine parts with torch.nn.ModuleDict; no class may derive from torch.nn.Module at
            # the level of a file, since files are imported without torch.

        def _train(self, net, data):
            # data: TableTensors; return the TrainingLog of `train`.

        def _forward(self, net, x):
            # (m, n_outputs) logits, or the (m, 1) standardised target, of rows x. Called in
            # double precision, on the CPU, without gradients, on networks in evaluation mode.

Rules: parameters are checked in `_build` and `_train` (`s2mam.training.parameters`); random
numbers come from torch's global generator, which the base class seeds and puts back; tensors are
made on `data.x.device` with `data.x.dtype`; arrays that `_forward` needs beside the network's
weights are kept as numpy arrays on the estimator, so that fits pickle and load without a GPU.
Targets of regression arrive standardised by the labelled rows, and go back in the base class.
"""
