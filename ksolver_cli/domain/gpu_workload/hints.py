"""Hints about memory use, sniffed from command line and environment by an allow-list."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.gpu_workload.aliases import NUMBER_OF, SWITCHES, WORD_OF, spelled
from ksolver_cli.domain.gpu_workload.arguments import flags, tokens
from ksolver_cli.domain.gpu_workload.containers import gpu_container
from ksolver_cli.domain.gpu_workload.fingerprint import environment
from ksolver_cli.domain.gpu_workload.raw import RawObject, text, texts

_FALSE = frozenset({"false", "0", "no", "none", "off", "null"})
# Not after a letter, digit or dot (`v0.1b`), and not before a letter (`4bit`).
_SIZE_IN_NAME = re.compile(r"(?<![\w.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)(b|m)(?![a-z])", re.IGNORECASE)
_ENGINES = {
    "vllm": ("vllm",),
    "sglang": ("sglang",),
    "tgi": ("text-generation-launcher", "text-generation-inference"),
    "triton": ("tritonserver",),
    "torchrun": ("torchrun", "torch.distributed"),
    "deepspeed": ("deepspeed",),
    "accelerate": ("accelerate",),
    "megatron": ("megatron", "pretrain_gpt"),
}
_LARGEST_NUMBER = 1e15
_SIZE = "model_parameters_billions"


@dataclass(frozen=True)
class Hints:
    """Facts found about a workload: numbers (safe to keep) and words (a model's name, a precision)."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def over(self, weaker: "Hints") -> "Hints":
        """Return these hints, completed by weaker ones where they are silent.

        The size in the name of a model goes with that name: another model here leaves it behind.
        """
        numbers = {**weaker.numbers, **self.numbers}
        named = billions_in_name(weaker.words.get("model", ""))
        if "model" in self.words and _SIZE not in self.numbers and named is not None and numbers.get(_SIZE) == named:
            del numbers[_SIZE]
        return Hints(numbers, {**weaker.words, **self.words})

    def number(self, name: str) -> float | None:
        """Return a numeric hint by its canonical name."""
        return self.numbers.get(name)

    def count(self, name: str) -> int | None:
        """Return a numeric hint that must be a positive whole number; anything else reads as absent."""
        value = self.numbers.get(name)
        return int(value) if value is not None and value >= 1 else None


def parse_number(value: str) -> float | None:
    """Return a finite number below 1e15 in absolute value, else None; `1_000` and `4096.0` are numbers."""
    try:
        number = float(value.strip())
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < _LARGEST_NUMBER else None


def billions_in_name(name: str) -> float | None:
    """Return the parameter count a model's name states, in billions: `Llama-3-8B` → 8, `Mixtral-8x7B` → 56.

    `8x7B` is an upper estimate: experts share attention and embeddings.
    """
    found = _SIZE_IN_NAME.findall(name.rpartition("/")[2].replace("_", "-"))
    # The largest number wins: `70B-draft-1B` is the 70.
    sizes = [(float(times or 1) * float(size)) * (1.0 if unit.lower() == "b" else 0.001) for times, size, unit in found]
    return max(sizes) if sizes else None


def read_pairs(pairs: Iterable[tuple[str, str]]) -> Hints:
    """Return the hints among (name, value) pairs; the last mention of a fact wins, other names are passed over."""
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    for name, value in pairs:
        _read_pair(spelled(name), value.strip(), numbers, words)
    return Hints(numbers, words)


def _read_pair(name: str, value: str, numbers: dict[str, float], words: dict[str, str]) -> None:
    if name in SWITCHES:
        word, meaning = SWITCHES[name]
        if value.lower() not in _FALSE:
            words[word] = meaning
    elif name in NUMBER_OF:
        number = parse_number(value)
        if number is not None:
            numbers[NUMBER_OF[name]] = number
    elif name in WORD_OF and value:
        words[WORD_OF[name]] = value


def sniff(pod: RawObject) -> Hints:
    """Return what the GPU container's command line and environment say; the command line wins over the environment."""
    container = gpu_container(pod)
    if container is None:
        return Hints()
    return sniff_container(container)


def sniff_container(container: RawObject) -> Hints:
    """Return the hints of one container; see `sniff`."""
    words = tokens(texts(container.get("command")), texts(container.get("args")))
    from_env = read_pairs((name, value) for name, value in environment(container).items() if value is not None)
    from_line = read_pairs(flags(words)).over(_positional_model(words))
    hints = from_line.over(from_env)
    return hints.over(_derived(hints, words, text(container.get("image")) or ""))


def sniff_line(line: str) -> Hints:
    """Return the hints of a command line kept as one string (a RayJob's entrypoint)."""
    return sniff_container({"command": ["sh", "-c", line + " "]})


def _positional_model(words: list[str]) -> Hints:
    # The model of `vllm serve MODEL` has no flag.
    if "vllm" in [word.rpartition("/")[2] for word in words] and "serve" in words[:-1]:
        model = words[words.index("serve") + 1]
        return Hints(words={} if model.startswith("-") else {"model": model})
    return Hints()


def _derived(hints: Hints, words: list[str], image: str) -> Hints:
    numbers: dict[str, float] = {}
    found: dict[str, str] = {}
    billions = billions_in_name(hints.words.get("model", ""))
    if billions is not None:
        numbers[_SIZE] = billions
    line = " ".join([image, *words]).lower()
    engine = next((engine for engine, marks in _ENGINES.items() if any(mark in line for mark in marks)), None)
    if engine is not None:
        found["engine"] = engine
    return Hints(numbers, found)
