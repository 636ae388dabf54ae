"""`ksolver vram-predict`: how much GPU memory the pods of a snapshot or manifest will use, and how we know."""

from pathlib import Path
from typing import Annotated

import typer

from ksolver_cli.cli.vram_observe import JsonOption, Output, OutputOption

InputArgument = Annotated[
    str | None,
    typer.Argument(metavar="[PODS|SNAPSHOT|MANIFEST]", help="A snapshot, a kubectl list, a manifest, or - for stdin."),
]
FileOption = Annotated[str | None, typer.Option("-f", "--filename", help="The same as the argument.")]
StoreOption = Annotated[
    Path | None, typer.Option(envvar="KSOLVER_VRAM_STORE", help="The store that vram-observe writes; .gz is read too.")
]
HardOption = Annotated[bool, typer.Option("--hard-admit", help="Let the memory model's answers be hard filters.")]
CalibrateOption = Annotated[bool, typer.Option("--calibrate", help="Say how good the model is on the store instead.")]
ClassOption = Annotated[
    bool, typer.Option("--right-class", help="Say instead which workloads would fit a cheaper GPU class.")
]
NamespaceOption = Annotated[str | None, typer.Option("-n", "--namespace", help="Only workloads of this namespace.")]
ModelOption = Annotated[str | None, typer.Option(help="Name of the model, such as meta-llama/Llama-3.1-8B.")]
BillionsOption = Annotated[float | None, typer.Option(help="Parameters of the model, in billions.")]
BatchOption = Annotated[int | None, typer.Option(help="Samples a GPU holds at once.")]
SequenceOption = Annotated[int | None, typer.Option(help="Tokens a sample.")]
PrecisionOption = Annotated[str | None, typer.Option(help="fp32, bf16 or fp16.")]
CardOption = Annotated[float | None, typer.Option(help="Memory of the card, in GiB, where the input does not tell.")]
OutOption = Annotated[str | None, typer.Option("--out", help="Write to this file instead of stdout.")]


def vram_predict(
    source: InputArgument = None,
    filename: FileOption = None,
    store: StoreOption = None,
    hard_admit: HardOption = False,
    calibrate_: CalibrateOption = False,
    right_class: ClassOption = False,
    namespace: NamespaceOption = None,
    model: ModelOption = None,
    model_parameters_billions: BillionsOption = None,
    batch_size: BatchOption = None,
    sequence_length: SequenceOption = None,
    precision: PrecisionOption = None,
    gpu_memory_gib: CardOption = None,
    out: OutOption = None,
    output: OutputOption = Output.TABLE,
    as_json: JsonOption = False,
) -> None:
    """Predict the peak GPU memory of each workload: annotation, observations, model configuration, then hints.

    Every number comes with its source and confidence. Nothing known: unknown, never a guess.
    """
    from ksolver_cli.cli.gpu_memory.predicting import Asked, Question, Typed, run

    typed = Typed(model, model_parameters_billions, batch_size, sequence_length, precision)
    asked = Asked(source, filename, store, hard_admit, namespace, gpu_memory_gib, out)
    question = Question.asked(calibrate=calibrate_, right_class=right_class)
    run(asked, typed, question, as_json=as_json or output is Output.JSON)
