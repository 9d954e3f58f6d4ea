"""A source of each language with a mark before the last name of each callee, and before nothing else."""

from collections.abc import Iterator

MARK = "¦"

SOURCES = {
    "bash": """
        run() {
            ¦build --fast "é" run; echo=1 ¦deploy build
        }
        ¦run | ¦tail -n 1
        "¦build" x
    """,
    "c": """
        int f(struct s *a) {
        \treturn "é"[0] + ¦g(a->next) + a->ops->¦run(¦f(a), a.run)
                + a
                ->¦run();
        }
    """,
    "c-sharp": """
        class A : B {
            A(int x) : ¦base(x) { }
            void F() {
                var s = "é"; ¦G(1); this.a.¦Run<A>(¦G(2)); a?.¦Run();
                var b = new X.¦Item<Run>(1) { P = 2 };
                ¦Item c = new(3) { Item = 4 };
                X.Y.¦Make();
            }
        }
    """,
    "cpp": """
        void f() {
            auto s = "é"; ¦g(1); a.b.¦run(¦g(2)); p->¦run<run>(); ns::A<B>::¦make<make>(3); ¦g<g>();
            auto b = new ns::¦Item<Item>(1);
        }
    """,
    "elixir": """
        defmodule A do
          def f(x) do
            "é" |> ¦g(1)
            B.C.¦run(x) |> B.¦run
            x.fun.(1)
          end
        end
    """,
    "go": """
        package p
        func f() {
        \ts := "é"; ¦g(1); a.b.¦Run(¦g(2), a.Run); ¦g(3)(4); items[0](5)
        \tfmt.¦Println(s)
        }
    """,
    "haskell": """
        module A where
        f x = "é" ++ ¦g x (¦h 1) ++ M.N.¦run x
        i x = x `¦with` x
        j x = x `M.¦with` ¦g with
        k = ¦g $ 1
    """,
    "java": """
        class A extends B {
            A() { ¦super(1); }
            A(int x) { ¦this(); }
            void f() {
                String s = "é"; ¦g(1); this.a.¦run(¦g(2)); A.<String>¦run();
                new x.¦Item<Item>(1) { int run() { return ¦g(3); } };
                ¦map(Item::¦run); ¦map(¦Item::new);
            }
        }
    """,
    "javascript": """
        const s = "é"; ¦g(1); a.b.¦run(¦g(2)); new x.¦Item(1); new ¦Item; a?.¦run?.(); a["run"](); ¦g(3)(4);
        @x.¦tagged class C extends B { constructor() { ¦super(); this.¦#own(); } }
        (¦g)(5); (() => 1)();
        const page = <div><¦Item a={¦g(1)} /><x.¦Row>é {¦g(2)}</x.Row></div>;
    """,
    "kotlin": """
        class A : B {
            constructor(x: Int) : ¦super(x)
            fun f() {
                val s = "é"; ¦g(1); this.a.¦run(¦g(2)) { ¦g(3) }; a?.¦run<A>(); a ¦with b
                listOf.¦map(::¦g).¦map(Item::¦run)
            }
        }
    """,
    "lua": """
        local s = "é"; ¦g(1); a.b.¦run(¦g(2)); a:¦run(); a["run"](); ¦g "é"
        function f() return M.¦make {} end
    """,
    "php": """
        <?php
        class A {
            function f() {
                $s = "é"; ¦g(1); \\N\\¦g(2); $this->a->¦run(¦g(3)); $a?->¦run(); X\\A::¦make(); self::¦make();
                new ¦Item(1); new \\X\\¦Item(2); $fun(3);
            }
        }
    """,
    "python": """
        @¦plain
        @a.¦called(1)
        class C(Base):
            @¦property
            def x(self): return ¦super().x
            def f(self):
                s = "é"; ¦g(1); self.a.¦run(¦g(2)); (a.¦run)(3); (
                    a
                    .¦run)()
                return [¦item() for item in items]
        f"é{¦g(4)}"
    """,
    "ruby": """
        class A
          def f(x)
            s = "é"; ¦g(1); x.¦a.¦run(¦g(2)) { |y| y.¦save! }; X::¦Item.new(1); x&.¦run; ¦super(x)
            ¦go
            x.¦y.¦new(2)
          end
        end
    """,
    "rust": """
        fn f() {
            let s = "é"; ¦g(1); self.a.¦run(¦g(2)); x::¦make::<u8>(3); a.¦run::<Run>(); ¦println!("{}", 1); x::¦vec![g];
            let b = x::¦Item { run: ¦g(3) }; ¦Item { run };
        }
    """,
    "scala": """
        class A {
          def f() = {
            val s = "é"; ¦g(1); this.a.¦run(¦g(2)); a.¦run[Run](3); a ¦map b; new x.¦Item[Item](1) { def run = 2 }
            a.¦`two words`(4)
            new ¦Item with Row
          }
        }
    """,
    "swift": """
        class A {
            func f() {
                let s = "é"; ¦g(1); self.a.¦run(¦g(2)) { ¦g(3) }; ¦Item(); a?.¦run(); a[0]
            }
        }
    """,
    "tsx": """
        const s = "é"; ¦g<g>(1); a.b.¦run<run>(¦g(2)); new x.¦Item<Item>(1); a!.¦run!(); (a as any).¦run();
        const page = <div><¦Item<Item> a={¦g(1)} /><x.¦Row>é</x.Row></div>;
    """,
    "typescript": """
        const s = "é"; ¦g<g>(1); a.b.¦run<run>(¦g(2)); new x.¦Item<Item>(1); a!.¦run!(); (a as any).¦run();
        class A { @¦tagged x = <any>¦g(3); @x.¦tagged() y = 1 }
    """,
    "zig": """
        fn f() void {
            const s = "é"; ¦g(1); a.b.¦run(¦g(2)); ¦List(u8).¦init(3);
        }
    """,
}


def unmarked(language: str) -> str:
    """The source as the language knows it."""
    return SOURCES[language].replace(MARK, "")


def marked_places(language: str) -> Iterator[tuple[int, int]]:
    """The line and the column of each mark, in source order."""
    for line, row in enumerate(SOURCES[language].split("\n"), start=1):
        before = b""
        *parts, _ = row.encode().split(MARK.encode())
        for part in parts:
            before += part
            yield line, len(before)
