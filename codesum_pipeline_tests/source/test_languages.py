"""A file's language, by name or first line."""

import pytest

from codesum_pipeline.foundation.language_facts.file_languages import (
    LANGUAGES,
    has_shared_ending,
    is_program,
    language_of_file,
    language_of_first_line,
    language_of_path,
)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("src/a.pyi", "python"),
        ("A.PY", "python"),
        ("a.js", "javascript"),
        ("a.test.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.h", "cpp"),
        ("a.cs", "c-sharp"),
        ("Dockerfile", "dockerfile"),
        ("docker/Dockerfile.dev", "dockerfile"),
        ("GNUmakefile", "makefile"),
        ("CMakeLists.txt", "cmake"),
        ("Gemfile", "ruby"),
        (".bashrc", "bash"),
        ("README.md", "markdown"),
        ("docs/index.rst", "rst"),
        ("notes.txt", "text"),
        ("README", None),
        (".py", None),
        ("py", None),
        ("dir.py/x", None),
        ("a.unheard-of", None),
        ("a.bats", "bash"),
        ("config.ru", "ruby"),
        ("lib-1.0-1.rockspec", "lua"),
        ("build.sbt", "scala"),
        ("defs.bzl", "python"),
        ("BUILD.bazel", "starlark"),
        ("fastlane/Fastfile", "ruby"),
        ("Podfile", "ruby"),
        ("a.podspec", "ruby"),
        ("a.luau", "lua"),
        ("a.ino", "cpp"),
        ("a.es6", "javascript"),
        ("a.tcc", "cpp"),
        ("a.cppm", "cpp"),
        ("a.ixx", "cpp"),
        ("a.hsc", "haskell"),
        ("a.lhs", "haskell"),
        ("a.pyx", "python"),
        ("a.pxi", "python"),
        ("Snakefile", "python"),
        ("config.h.in", "cpp"),
        ("x.in", None),
        ("PKGBUILD", "bash"),
        ("Jenkinsfile", "groovy"),
    ],
)
def test_a_name_says_the_language(path: str, language: str | None) -> None:
    assert language_of_path(path) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\n", "python"),
        (b"#! /usr/bin/env -S PYTHONPATH=. python3 -u\n", "python"),
        (b"#!/bin/sh", "bash"),
        (b"#!/usr/bin/env node\r\n", "javascript"),
        (b"#!/usr/bin/env bats\n", "bash"),
        (b"#!/usr/bin/env -S uv run --script\n", "python"),
        (b"#!/bin/ash\n", "bash"),
        (b"#!/opt/unknown\n", None),
        (b"#!/usr/bin/env\n", None),
        (b"#!\n", None),
        (b"x = 1\n#!/bin/sh\n", None),
        (b"", None),
    ],
)
def test_a_first_line_says_the_language(line: bytes, language: str | None) -> None:
    assert language_of_first_line(line) == language


OBJECTIVE_C = b"// A store.\n#import <Foundation/Foundation.h>\n@implementation Store\n@end\n"


@pytest.mark.parametrize(
    ("path", "data", "language"),
    [
        pytest.param("a.m", OBJECTIVE_C, "objective-c", id="Objective-C"),
        pytest.param("a.m", b'#include "a.h"\nint main() { return 0; }\n', "objective-c", id="C in Objective-C"),
        pytest.param("a.m", b"function y = f(x)\n  y = 2 * x;\nend\n", "matlab", id="a function of MATLAB"),
        pytest.param("a.m", b"% Plots.\nx = 1:10;\nplot(x)\n", "matlab", id="a script of MATLAB"),
        pytest.param("a.m", b"clc; clear all\nx = 'http://a.b'\n", "matlab", id="one without a comment"),
        pytest.param("a.m", b"classdef A < handle\nend\n", "matlab", id="a class of MATLAB"),
        pytest.param("a.m", b'(* One. *)\nBeginPackage["A`"]\n', "mathematica", id="Mathematica"),
        pytest.param("a.m", b":- module a.\n", "mercury", id="Mercury"),
        pytest.param("a.pl", b"use strict;\nmy $x = 1;\n", "perl", id="Perl"),
        pytest.param("a.pl", b":- module(a, [b/1]).\nb(X) :-\n  c(X).\n", "prolog", id="Prolog"),
        pytest.param("a.t", b"use strict;\nuse Test::More;\n", "perl", id="a test of Perl"),
        pytest.param("a.t", b"Some text.\n", "text", id="another .t"),
        pytest.param("a.v", b"module a(input b);\nendmodule\n", "verilog", id="Verilog"),
        pytest.param("a.v", b"Require Import List.\nTheorem a : b.\n", "coq", id="Coq"),
        pytest.param("a.v", b"module main\n\nfn main() {\n}\n", "v", id="V"),
        pytest.param("a.fs", b"module A\nlet f x = x\n", "f-sharp", id="F#"),
        pytest.param("a.fs", b"#version 330\nvoid main() {}\n", "glsl", id="GLSL"),
        pytest.param("a.ts", b"export const a = 1;\n", "typescript", id="TypeScript"),
        pytest.param("a_de.ts", b'<?xml version="1.0"?>\n<TS></TS>\n', "xml", id="a translation of Qt"),
        pytest.param("a.inc", b"<?php\nfunction f() {}\n", "php", id="PHP that is included"),
        pytest.param("a.inc", b"#ifndef A\n#define A\n#endif\n", "cpp", id="C that is included"),
        pytest.param("a.inc", b"Some text.\n", "text", id="text that is included"),
        pytest.param("a.rst.inc", b"#define A\n", "rst", id="an ending before the shared one"),
        pytest.param("build.rs", b"fn main() {}\n", "rust", id="a name that is a language's with another ending"),
        pytest.param("lib/workspace.rs", b"pub struct A;\n", "rust", id="such a name in a folder"),
        pytest.param("index.d.ts", b"export type A = 1;\n", "typescript", id="declarations"),
        pytest.param("a.css.ts", b"export const a = style({});\n", "typescript", id="code that makes styles"),
        pytest.param("a.sql.pl", b"use strict;\n", "perl", id="code that makes queries"),
        pytest.param("a.module", b"<?php\n", "php", id="a module of Drupal"),
        pytest.param("a.cls", b"\\ProvidesClass{a}\n", "tex", id="a class of LaTeX"),
        pytest.param("a.cls", b"VERSION 1.0 CLASS\n", "visual-basic", id="a class of Visual Basic"),
        pytest.param("a.d", b"module a;\nvoid main() {}\n", "d", id="D"),
        pytest.param("a.d", b"build/a.o: a.c \\\n b.h\n", "makefile", id="dependencies of make"),
        pytest.param("a.pp", b"class a {\n}\n", "puppet", id="Puppet"),
        pytest.param("a.pp", b"unit a;\n", "pascal", id="Pascal"),
        pytest.param("a.r", b"f <- function(x) x\n", "r", id="R"),
        pytest.param("a.cl", b"__kernel void f() {}\n", "c", id="OpenCL"),
        pytest.param("a.gs", b"function f() {\n}\n", "javascript", id="a script of Google"),
        pytest.param("a.m", b"# define a value\n# if wanted\nfunction f()\nend\n", "matlab", id="comments of Octave"),
        pytest.param("a.m", b"# include <a.h>\nint f;\n", "objective-c", id="a directive with a blank"),
        pytest.param("a.pl", b"parent(a, b).\nold(X, Y) :- parent(X, Y).\n", "prolog", id="rules of one line"),
        pytest.param("a.pl", b"print <<A;\n:-D\nA\n", "perl", id="a smile"),
        pytest.param("a.plt", b":- begin_tests(a).\n", "prolog", id="tests of Prolog"),
        pytest.param("a.plt", b"set terminal png\nplot 'a.dat'\n", "text", id="a plot"),
        pytest.param("a.v", b"/*\n Definition of the ports.\n*/\nmodule a;\n", "verilog", id="a comment of Verilog"),
        pytest.param("a.v", b"From A.B Require Import C.\n", "coq", id="a library of Coq"),
        pytest.param("a.v", b"Definition a (b : nat) := b.\n", "coq", id="a definition of Coq"),
        pytest.param("a.fs", b"let a =\n  let b = 1\n  in match b with _ -> 2\n", "f-sharp", id="words of F#"),
        pytest.param("a.fs", b"in highp vec2 a;\n", "glsl", id="a precision"),
        pytest.param("a.sls", b"nginx:\n  pkg.installed\n", "yaml", id="states of Salt"),
        pytest.param("a.sls", b"#!r6rs\n; One.\n(library (a))\n", "scheme", id="Scheme"),
        pytest.param("a.sch", b"EESchema Schematic File Version 4\n", "text", id="a schematic"),
        pytest.param("a.sch", b'<?xml version="1.0"?>\n<schema/>\n', "xml", id="rules of XML"),
        pytest.param("a.sld", b"<StyledLayerDescriptor/>\n", "xml", id="styles of a map"),
        pytest.param("a.sld", b"(define-library (a))\n", "scheme", id="a library of Scheme"),
        pytest.param("a.sc", b"import a.b\nclass A: \n  def f = 1\n", "scala", id="Scala"),
        pytest.param("a.sc", b"SinA : UGen {\n  *ar { |a| ^this.multiNew(a) }\n}\n", "text", id="SuperCollider"),
        pytest.param("a.sc", b"x = Synth(\\sine);\n", "text", id="a script of SuperCollider"),
        pytest.param("a.star", b"def f():\n    pass\n", "python", id="Starlark"),
        pytest.param("a.star", b"# version 3\n\ndata_optics\n\nloop_\n", "text", id="a table of measurements"),
        pytest.param("config.ru", b"# One.\nrequire 'a'\nrun A\n", "ruby", id="a server's configuration"),
        pytest.param("README.ru", "Описание.\n".encode(), "text", id="a text in Russian"),
        pytest.param("README.md.ru", "Описание.\n".encode(), "text", id="one of markup"),
        pytest.param("a.ru", b"PREFIX a: <b>\nINSERT DATA { a:c a:d 1 }\n", "text", id="an update of SPARQL"),
        pytest.param("a.command", b"echo a\n", "bash", id="commands"),
        pytest.param("build.cmd", b"#!/bin/sh\n", "batch", id="an ending before the first line"),
        pytest.param("run", b"#!/usr/bin/env lua\n", "lua", id="no ending"),
    ],
)
def test_content_says_the_language_where_several_share_an_ending(path: str, data: bytes, language: str) -> None:
    assert language_of_file(path, data) == language
    assert language_of_file(path, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")) == (
        language if path != "run" else "text"
    )
    if path != "run":
        text = data.decode("latin-1")
        marked = (text.encode("utf-16"), text.encode("utf-32"), b"\xfe\xff" + text.encode("utf-16-be"))
        assert [language_of_file(path, each) for each in marked] == [language] * 3


@pytest.mark.parametrize(
    ("path", "line", "language"),
    [
        ("build", b"#!/bin/bash\n", "bash"),
        ("tools/workspace", b"#!/usr/bin/env python3\n", "python"),
        ("build", b"# rules\n", "starlark"),
        ("Rakefile", b"#!/usr/bin/env rake\n", "ruby"),
        ("a.command", b"#!/bin/zsh\n", "bash"),
        ("a.command", b"#!/usr/bin/env python3\n", "python"),
        ("a.m", "\ufeff#import <A.h>\n".encode("utf-16-le"), "objective-c"),
    ],
)
def test_a_script_says_its_language_whatever_it_is_called(path: str, line: bytes, language: str) -> None:
    assert language_of_file(path, line) == language


def test_a_name_with_a_shared_ending_says_no_language() -> None:
    assert [has_shared_ending(path) for path in ("a.m", "b/A.PL", "a.py", "m", "")] == [True, True, False, False, False]


def test_prose_and_data_are_no_programs() -> None:
    assert not any(map(is_program, ("markdown", "toml", "yaml", "json", "html", "css", "text", "dockerfile")))
    assert all(map(is_program, ("python", "sql", "bash", "tsx")))


def test_every_parsed_language_has_a_name() -> None:
    design = "python javascript typescript tsx go rust java c cpp c-sharp ruby php kotlin swift scala bash lua elixir"
    assert set(f"{design} haskell zig".split()) <= LANGUAGES
