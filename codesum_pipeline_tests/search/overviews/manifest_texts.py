"""Manifests of ten languages and more, as projects of some size write them."""

PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "parcel-desk"
dependencies = [
  "FastAPI[standard]>=0.110,<1",
  "sqlalchemy ~= 2.0",   # the books
  "psycopg[binary]; python_version >= '3.11'",
]

[project.optional-dependencies]
jobs = ["celery>=5.4"]

[dependency-groups]
dev = ["pytest>=8", {include-group = "lint"}, "mypy"]

[project.scripts]
parcel-desk = "parcel_desk.cli:main"
"""

POETRY = """\
[tool.poetry]
name = "ledger"

[tool.poetry.dependencies]
python = "^3.11"
django = "^5.0"
celery = { version = "^5.4", extras = ["redis"] }

[tool.poetry.group.dev.dependencies]
pytest-django = "*"

[tool.poetry.scripts]
ledger = "ledger.main:run"
"""

SETUP_CFG = """\
[metadata]
name = weather

[options]
install_requires =
    Flask>=3
    requests

[options.extras_require]
test =
    pytest

[options.entry_points]
console_scripts =
    weather = weather.cli:main
"""

SETUP_PY = """\
import sys
from setuptools import setup

open("MARK", "w").close()
setup(
    name="tides",
    install_requires=["tornado>=6", "click"],
    extras_require={"test": ["pytest"]},
    entry_points={"console_scripts": ["tides = tides.app:main"]},
)
"""

REQUIREMENTS = """\
# the web
django==5.1.4 \\
    --hash=sha256:abc
-r base.txt
gunicorn>=22  # serves it
git+https://example.org/x.git
"""

PACKAGE_JSON = """\
{
\t"name": "@shop/front",
\t"scripts": { "start": "next start", "test": "vitest" },
\t"bin": { "shop": "./bin/shop.js" },
\t"exports": { ".": { "import": "./dist/index.mjs" } },
\t"dependencies": {
\t\t"next": "^15.1.0",
\t\t"react": "^19.0.0",
\t\t"@prisma/client": "6.1.0"
\t},
\t"devDependencies": {
\t\t"vitest": "^2.1.8"
\t}
}
"""

COMPOSER_JSON = """\
{
    "name": "acme/blog",
    "require": {
        "php": ">=8.2",
        "ext-json": "*",
        "laravel/framework": "^11.0"
    },
    "require-dev": {
        "phpunit/phpunit": "^11.5"
    },
    "bin": ["bin/blog"]
}
"""

CARGO = """\
[package]
name = "relay"

[[bin]]
name = "relayd"
path = "src/daemon.rs"

[dependencies]
axum = "0.8"
tokio = { version = "1.43", features = ["full"] }

[dependencies.sqlx]
version = "0.8"

[dev-dependencies]
proptest = "1"

[target.'cfg(unix)'.dependencies]
nix = "0.29"
"""

GO_MOD = """\
module example.org/harbour

go 1.23

require (
\tgithub.com/gin-gonic/gin v1.10.0
\tgorm.io/gorm v1.25.12
\tgolang.org/x/sys v0.28.0 // indirect
)

require github.com/stretchr/testify v1.10.0
"""

POM = """\
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>3.4.1</version>
  </parent>
  <groupId>org.example</groupId>
  <artifactId>orders</artifactId>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-web</artifactId>
    </dependency>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
"""

GRADLE = """\
plugins {
    id 'java'
    id 'org.springframework.boot' version '3.4.1'
}

dependencies {
    implementation 'org.hibernate.orm:hibernate-core:6.6.4.Final'
    testImplementation("org.mockito:mockito-core:5.14.2")
    // implementation 'org.jooq:jooq:3.19'
}
"""

GRADLE_KTS = """\
plugins {
    kotlin("jvm") version "2.1.0"
    id("io.ktor.plugin") version "3.0.3"
}

application {
    mainClass.set("org.example.ApplicationKt")
}

dependencies {
    implementation("io.ktor:ktor-server-core:3.0.3")
    implementation("org.jetbrains.exposed:exposed-core:$exposed")
    testImplementation("io.kotest:kotest-runner-junit5:5.9.1")
}
"""

VERSIONS_TOML = """\
[versions]
ktor = "3.0.3"

[libraries]
ktor-client = { module = "io.ktor:ktor-client-core", version.ref = "ktor" }
okhttp = "com.squareup.okhttp3:okhttp:4.12.0"
room = { group = "androidx.room", name = "room-runtime" }

[plugins]
sqldelight = { id = "app.cash.sqldelight", version = "2.0.2" }
"""

SBT = """\
name := "mill-race"

val http4s = "0.23.30"

libraryDependencies ++= Seq(
  "org.http4s" %% "http4s-ember-server" % http4s,
  "org.tpolecat" %% "doobie-core" % "1.0.0-RC6",
  "org.scalatest" %% "scalatest" % "3.2.19" % Test
)
"""

CSPROJ = """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net9.0</TargetFramework>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Dapper" Version="2.1.35" />
    <PackageReference Include="Microsoft.EntityFrameworkCore.SqlServer">
      <Version>9.0.0</Version>
    </PackageReference>
  </ItemGroup>
</Project>
"""

GEMFILE = """\
source "https://rubygems.org"

gem "rails", "~> 8.0", ">= 8.0.1"
gem "pg"

group :development, :test do
  gem "rspec-rails", "~> 7.1"
end
"""

GEMSPEC = """\
Gem::Specification.new do |spec|
  spec.name = "lighthouse"
  spec.executables = ["lighthouse"]
  spec.add_dependency "faraday", ">= 2", "< 3"
  spec.add_development_dependency "minitest"
end
"""

MIX = """\
defmodule Ferry.MixProject do
  use Mix.Project

  def project do
    [app: :ferry, version: "0.1.0", deps: deps()]
  end

  def application do
    [mod: {Ferry.Application, []}, extra_applications: [:logger]]
  end

  defp deps do
    [
      {:phoenix, "~> 1.7.18"},
      {:ecto_sql, ">= 3.10.0"},
      {:credo, "~> 1.7", only: [:dev, :test], runtime: false}
    ]
  end
end
"""

PACKAGE_SWIFT = """\
// swift-tools-version:5.10
import PackageDescription

let package = Package(
    name: "Beacon",
    products: [.executable(name: "beacon", targets: ["App"])],
    dependencies: [
        .package(url: "https://github.com/vapor/vapor.git", from: "4.110.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", branch: "main"),
    ],
    targets: [
        .executableTarget(name: "App", dependencies: [.product(name: "Vapor", package: "vapor")]),
    ]
)
"""

CABAL = """\
cabal-version: 3.0
name: compass

common shared
    build-depends: base >=4.18 && <5

library
    import: shared
    build-depends:
        , aeson >=2.1
        , servant-server
    -- , yesod

executable compass-server
    main-is: Main.hs
    build-depends: compass, warp ^>=3.4

test-suite spec
    type: exitcode-stdio-1.0
    build-depends: hspec
"""

PACKAGE_YAML = """\
name: sextant
dependencies:
- base >= 4.7 && < 5
- scotty
executables:
  sextant:
    main: Main.hs
tests:
  sextant-test:
    dependencies:
    - hspec
"""

ROCKSPEC = """\
package = "anchor"
version = "1.0-1"
dependencies = {
   "lua >= 5.1",
   "lapis ~> 1.16",
}
test_dependencies = { "busted" }
build = { type = "builtin", install = { bin = { ["anchor"] = "bin/anchor.lua" } } }
"""

ZON = """\
.{
    .name = .keel,
    .dependencies = .{
        .httpz = .{
            .url = "git+https://example.org/http.zig",
            .hash = "1220abc",
        },
        .local = .{ .path = "../local" },
    },
}
"""

BUILD_ZIG = """\
const std = @import("std");

pub fn build(b: *std.Build) void {
    const exe = b.addExecutable(.{
        .name = "keel",
        .root_source_file = b.path("src/main.zig"),
    });
    b.installArtifact(exe);
}
"""

CMAKE = """\
project(buoy LANGUAGES CXX)
find_package(Catch2 3 REQUIRED)
FetchContent_Declare(
  nlohmann_json URL https://example.org/json.tar.xz)
add_executable(buoy src/main.cpp)
add_executable(buoy_tests test/all.cpp)
"""

DOCKERFILE = """\
FROM node:22-alpine AS build
RUN npm ci
FROM build AS check
FROM postgres:17
ENTRYPOINT ["postgres"]
"""

COMPOSE = """\
x-base: &base
  restart: always
services:
  web:
    <<: *base
    build: .
  cache:
    image: docker.io/library/redis:7
"""
