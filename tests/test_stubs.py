"""Each hand-written stub says what its compiled module has: the same public names, the same arguments."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

FOLDER = Path(importlib.import_module("softkit._kernels").__file__).parent
NAMES = sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]))

pytestmark = pytest.mark.smoke


def stub_arguments(node):
    """Argument names in order, with * and ** marks, and which of them have defaults."""
    spec = node.args
    plain = [*spec.posonlyargs, *spec.args]
    optional = [False] * (len(plain) - len(spec.defaults)) + [True] * len(spec.defaults)
    out = [(a.arg, has) for a, has in zip(plain, optional)]
    if spec.vararg:
        out.append(("*" + spec.vararg.arg, False))
    out += [("=" + a.arg, default is not None) for a, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    if spec.kwarg:
        out.append(("**" + spec.kwarg.arg, False))
    return out


def compiled_arguments(function):
    marks = {"VAR_POSITIONAL": "*", "KEYWORD_ONLY": "=", "VAR_KEYWORD": "**"}
    return [
        (marks.get(p.kind.name, "") + p.name, p.default is not p.empty)
        for p in inspect.signature(function).parameters.values()
    ]


def stub_names(body):
    """Public name -> its definition: functions and classes as nodes, annotated values as None.

    A plain assignment names a type for the stub's own use.
    """
    out = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            out[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            out[node.target.id] = None
    return {name: node for name, node in out.items() if not name.startswith("_")}


def compiled_names(module):
    """What a module defines itself: not the modules, functions and classes that it imported."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", module.__name__) == module.__name__
    }


def differences(stub_text, module):
    """What the stub and the module disagree on, as sentences."""
    stub, compiled = stub_names(ast.parse(stub_text).body), compiled_names(module)
    out = [f"{name} is compiled but not in the stub" for name in compiled.keys() - stub.keys()]
    out += [f"{name} is in the stub but not compiled" for name in stub.keys() - compiled.keys()]
    for name in stub.keys() & compiled.keys():
        if isinstance(stub[name], ast.FunctionDef):
            said, real = stub_arguments(stub[name]), compiled_arguments(compiled[name])
            if said != real:
                out.append(f"{name}: the stub says {said}, the module {real}")
        elif isinstance(stub[name], ast.ClassDef) != inspect.isclass(compiled[name]):
            out.append(f"{name} is a class on one side only")
    return sorted(out)


@pytest.mark.parametrize("name", NAMES)
def test_stub_matches(name):
    module = importlib.import_module(f"softkit._kernels.{name}")
    assert module.__file__.endswith((".so", ".pyd")), f"{name} is not compiled"
    assert differences((FOLDER / f"{name}.pyi").read_text(), module) == []


def test_no_stub_without_a_module():
    assert sorted(path.stem for path in FOLDER.glob("*.pyi")) == NAMES


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("def team", "def crew", "crew is in the stub but not compiled"),
        ("owner: np.ndarray, ", "", "team: the stub says"),
        ("num_threads: int", "num_threads: int = 1", "team: the stub says"),
        ("num_threads: int", "threads: int", "team: the stub says"),
        ("def release_team() -> bool: ...", "", "release_team is compiled but not in the stub"),
    ],
)
def test_check_notices(old, new, complaint):
    """The check itself can fail."""
    text = (FOLDER / "build.pyi").read_text()
    assert old in text
    module = importlib.import_module("softkit._kernels.build")
    assert any(complaint in line for line in differences(text.replace(old, new), module))
