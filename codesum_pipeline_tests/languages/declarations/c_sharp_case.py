"""C# as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
// Copyright (c) The Authors. All rights reserved.

global using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.Linq.JObject;

[assembly: CLSCompliant(false)]

namespace Example.Store
{
    #region Stores

    /// <summary>
    /// Keeps <typeparamref name="T"/> in memory &amp; finds them by name.
    /// </summary>
    /// <param name="T">What is kept.</param>
    [Serializable, Obsolete("old")]
    public abstract partial class Store<T> : Base<T>, IFinder where T : class, new()
    {
        private readonly List<T> _items = new List<T>(), _old = new(); // never null
        private Func<T, int> _rank = item => item.Rank + 1;
        public const int Max = 3;

        public event EventHandler Changed;

        public string Name { get; private set; } = "store";

        public int Count => _items.Count;

        public int Size
        {
            get { return _size; }
            set => _size = value;
        }

        public T this[int index] { get => _items[index]; }

        /// <summary>An empty store.</summary>
        protected Store(string name, params T[] first) : base(name)
        {
            this.name = name ?? throw new ArgumentNullException(nameof(name));
        }

        ~Store() => Close();

        public static Store<T> operator +(Store<T> left, Store<T> right) => left.Join(right);

        public static implicit operator int(Store<T> store) => store.Count;

        T IFinder.Find<TKey>(out TKey key, ref int? count, string name = "none") where TKey : struct
        {
            for (int i = 0, j = Max; i < j; i++, --j)
            {
                if (_items[i] is null) continue;
                else if (i > -1) break;
            }
            foreach (T item in _items)
                if (item is Book { Pages: > 1 } book && !book.IsOld) return (T) book;
            try
            {
                using var file = Open($"{name,3:N2} of {Count} {{all}}");
            }
            catch (IOException error) when (error.Code > 1)
            {
                throw;
            }
            finally
            {
                lock (this) { _items?.Clear(); }
            }
#if DEBUG
            Log(@"a ""verbatim"" text");
#else
            Log("""a "raw" text""");
#endif
            int Twice(int number) => number * 2;
            return Twice(_items[^1].Rank) > 1 ? default(T) : null;
        }

        public async IAsyncEnumerable<int> Ranks(Kind kind)
        {
            switch (kind)
            {
                case Kind.Book:
                case Kind.Film:
                    Log("sold");
                    break;
                default:
                    yield break;
            }
            yield return await Ask(new Item("a") { Price = 1 });
            var all = new Dictionary<string, int[]> { ["a"] = new[] { 1 }, ["b"] = [1, ..rest] };
            var rank = kind switch
            {
                Kind.Book => 1,
                > Kind.Film and < Kind.All => 2,
                _ => throw new InvalidOperationException()
            };
        }

        [Fact]
        internal void Adds() => Assert.Equal(1, Names().Where(name => name.Length > 1).First<string>());
    }

    #endregion

    public delegate void Handler<in T>(object sender, T item);

    public record Item(string Name, int Price = 0) : Thing(Name);

    internal readonly struct Point(int x, int y)
    {
        public int Sum => x + y;
    }

    /// <summary>Finds items; see <see cref="T:Example.Store.Item"/>.</summary>
    internal interface IFinder
    {
        int Found { get; }

        /// <returns>Whether there is one.</returns>
        bool Has(string name);

        void Forget() { }
    }

    public enum Kind : byte
    {
        [Shown] Book = 1,
        Film,
    }
}
'''

CONDITIONS = """\
class Decider {
    void Decide(Mode mode, int size, string text) {
        if (size < 0) {
            TooSmall();
        } else if (size > 9) {
            TooLarge();
        } else {
            Fits();
        }
        Always();
        var given = text ?? Standard();
        switch (mode) {
            case Mode.Read:
            case Mode.Write:
                Use(mode);
                break;
            default:
                Refuse(mode);
                break;
        }
        var chosen = size switch { 1 => One(), > 5 => Many(), _ => Several() };
        try {
            Attempt();
        } catch (IOException error) {
            Recover(error);
        } catch {
            Rescue();
        }
    }
}
"""

OPENING = """\
class Walker {
    void apart() {
        // Walk all of it once,
        // in order.

        begin();
        end();
    }

    void whole() {
        // Walk all of it once, in order.
        begin();
    }

    void first() {
        // Walk all of it once, in order.
        begin();
        end();
    }

    void task() {
        // TODO: walk all of it once, in order.

        begin();
        end();
    }

    void code() {
        // walk(all, once);

        begin();
        end();
    }
}
"""

CASE = LanguageCase(
    language="c-sharp",
    path="src/Store/Store.cs",
    source=SOURCE,
    reformatted=SOURCE.replace("\n    {", " {")
    .replace("\n        {\n            ", " {\n\t\t\t")
    .replace("[Fact]\n        internal", "[Fact] internal")
    .replace("; else", ";\n                else")
    .replace(", params T[] first)", ",\n            params T[] first)")
    .replace("        #region", "#region")
    .replace("\n\n", "\n\n\n"),
    commented=SOURCE.replace(" // never null", "")
    .replace("#region Stores", "#region All stores")
    .replace("                    break;\n", "                    break; // done\n")
    .replace("number * 2", "number /* rank */ * 2"),
    edit=("number * 2", "number * 3"),
    edited=frozenset({"Store", "Store::Find", "Store::Find::Twice"}),
    rename=("Ranks(Kind kind)", "Places(Kind kind)"),
    renamed={"Store::Ranks": "Store::Places"},
    conditions=CONDITIONS,
    when={
        "TooSmall": "size < 0",
        "TooLarge": "size > 9",
        "Fits": "neither size < 0 nor size > 9",
        "Always": "",
        "Standard": "text has no value",
        "Use": "mode is Mode.Read or Mode.Write",
        "Refuse": "mode is anything else",
        "One": "size is 1",
        "Many": "size > 5",
        "Several": "size is anything else",
        "Attempt": "",
        "Recover": "IOException is caught",
        "Rescue": "an error is caught",
    },
    opening=OPENING,
)
