"""Calls of the standard library and of everyday methods, said in words."""

from codesum_pipeline.summaries.extractive.word_lists import word_set

# Dotted as written in most code; `*.x` is any receiver.
KNOWN_CALLS = {
    "json.dumps": "encodes JSON", "json.dump": "writes JSON", "json.loads": "decodes JSON", "json.load": "reads JSON",
    "yaml.safe_load": "reads YAML", "yaml.load": "reads YAML", "yaml.dump": "writes YAML",
    "yaml.safe_dump": "writes YAML", "pickle.dumps": "pickles an object", "pickle.dump": "writes a pickle",
    "pickle.loads": "unpickles an object", "pickle.load": "reads a pickle", "tomllib.load": "reads TOML",
    "tomllib.loads": "decodes TOML", "csv.reader": "reads CSV rows", "csv.writer": "writes CSV rows",
    "csv.DictReader": "reads CSV rows", "csv.DictWriter": "writes CSV rows", "open": "opens a file",
    "io.open": "opens a file", "codecs.open": "opens a file", "print": "prints", "input": "asks for input",
    "exec": "executes code", "eval": "evaluates code", "compile": "compiles code", "time.sleep": "sleeps",
    "asyncio.sleep": "sleeps", "time.time": "reads the clock", "time.monotonic": "reads the clock",
    "time.perf_counter": "reads the clock", "datetime.now": "reads the clock",
    "datetime.datetime.now": "reads the clock", "datetime.utcnow": "reads the clock",
    "re.compile": "compiles a pattern", "re.match": "matches a pattern", "re.search": "searches for a pattern",
    "re.sub": "replaces by a pattern", "re.split": "splits by a pattern", "re.findall": "finds all pattern matches",
    "re.finditer": "walks over pattern matches", "re.fullmatch": "matches a pattern",
    "re.escape": "escapes a pattern", "subprocess.run": "runs a subprocess",
    "subprocess.Popen": "starts a subprocess", "subprocess.check_call": "runs a subprocess",
    "subprocess.check_output": "reads a subprocess's output", "subprocess.call": "runs a subprocess",
    "os.system": "runs a shell command", "os.getenv": "reads the environment",
    "os.environ.get": "reads the environment", "os.environ.copy": "copies the environment",
    "os.makedirs": "creates folders", "os.mkdir": "creates a folder", "os.remove": "deletes a file",
    "os.unlink": "deletes a file", "os.rename": "renames a file", "os.replace": "replaces a file",
    "os.listdir": "lists a folder", "os.scandir": "lists a folder", "os.walk": "walks a folder tree",
    "os.stat": "reads file status", "os.chmod": "changes file permissions", "os.kill": "signals a process",
    "os.getcwd": "reads the working directory", "os.chdir": "changes the working directory",
    "os.getpid": "reads the process ID", "os.path.exists": "checks whether a path exists",
    "os.path.isfile": "checks whether a path is a file", "os.path.isdir": "checks whether a path is a folder",
    "os.path.join": "joins paths", "os.path.abspath": "makes a path absolute", "os.path.realpath": "resolves a path",
    "os.path.dirname": "takes a path's folder", "os.path.basename": "takes a path's file name",
    "os.path.splitext": "splits off a file extension", "os.path.getsize": "reads a file's size",
    "os.path.getmtime": "reads a file's modification time", "os.path.normpath": "normalizes a path",
    "os.path.expanduser": "expands the home folder", "os.path.relpath": "makes a path relative",
    "shutil.copy": "copies a file", "shutil.copyfile": "copies a file", "shutil.copytree": "copies a folder",
    "shutil.rmtree": "deletes a folder", "shutil.move": "moves a file", "shutil.which": "looks up a program",
    "tempfile.mkdtemp": "creates a temporary folder", "tempfile.TemporaryDirectory": "creates a temporary folder",
    "tempfile.NamedTemporaryFile": "creates a temporary file", "tempfile.mkstemp": "creates a temporary file",
    "sys.exit": "ends the program", "sys.stdout.write": "writes to standard output",
    "sys.stderr.write": "writes to standard error", "sys.stdout.flush": "flushes standard output",
    "warnings.warn": "warns", "warn": "warns", "importlib.import_module": "imports a module",
    "inspect.signature": "reads a signature", "copy.copy": "copies an object",
    "copy.deepcopy": "deep-copies an object", "random.random": "draws a random number",
    "random.choice": "picks at random", "random.shuffle": "shuffles", "random.randint": "draws a random integer",
    "hashlib.sha256": "hashes with SHA-256", "hashlib.sha1": "hashes with SHA-1", "hashlib.md5": "hashes with MD5",
    "base64.b64encode": "encodes base64", "base64.b64decode": "decodes base64", "uuid.uuid4": "draws a random UUID",
    "struct.pack": "packs bytes", "struct.unpack": "unpacks bytes", "socket.socket": "opens a socket",
    "asyncio.gather": "awaits several tasks", "asyncio.create_task": "starts a task",
    "asyncio.run": "runs an event loop", "asyncio.wait_for": "waits with a time limit",
    "threading.Thread": "starts a thread", "signal.signal": "installs a signal handler",
    "functools.wraps": "wraps a function", "functools.partial": "binds arguments",
    "itertools.chain": "chains iterables", "urllib.request.urlopen": "opens a URL", "urlopen": "opens a URL",
    "urlparse": "parses a URL", "urljoin": "joins URLs", "requests.get": "sends an HTTP GET",
    "requests.post": "sends an HTTP POST", "requests.request": "sends an HTTP request",
    "traceback.format_exc": "formats the traceback", "traceback.print_exc": "prints the traceback",
    "*.logger.debug": "logs", "*.logger.info": "logs", "*.logger.warning": "logs a warning",
    "*.logger.error": "logs an error", "*.logger.exception": "logs an error", "logger.debug": "logs",
    "logger.info": "logs", "logger.warning": "logs a warning", "logger.error": "logs an error",
    "logger.exception": "logs an error", "log.debug": "logs", "log.info": "logs", "log.warning": "logs a warning",
    "log.error": "logs an error", "logging.info": "logs", "logging.debug": "logs",
    "logging.warning": "logs a warning", "logging.error": "logs an error", "*.log.info": "logs",
    "*.log.debug": "logs", "*.log.warning": "logs a warning", "logging.getLogger": "gets a logger",
    "*.execute": "executes a statement", "*.commit": "commits", "*.rollback": "rolls back",
    "*.mkdir": "creates a folder", "*.write_text": "writes a file", "*.write_bytes": "writes a file",
    "*.read_text": "reads a file", "*.read_bytes": "reads a file", "*.rglob": "searches a folder tree",
    "*.glob": "searches a folder", "*.iterdir": "lists a folder", "*.writerow": "writes a row",
    "*.add_argument": "defines command-line arguments", "*.parse_args": "parses the command line",
    "*.raise_for_status": "fails on an HTTP error", "*.recv": "receives data", "*.sendall": "sends data",
    "*.send": "sends data", "*.acquire": "acquires a lock", "*.exists": "checks whether it exists",
    "*.is_file": "checks whether it is a file", "*.is_dir": "checks whether it is a folder",
    "*.encode": "encodes text", "*.decode": "decodes bytes", "*.connect": "connects", "*.debug": "logs",
    "*.urlopen": "opens a URL",
}  # fmt: skip

# Said by every second function: they tell nothing on their own.
QUIET_CALLS = word_set(
    """
    abs all any bool bytes bytearray callable chr classmethod delattr dict dir divmod enumerate filter float
    format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list locals globals map max
    min next object oct ord pow property range repr reversed round set setattr slice sorted staticmethod str sum
    super tuple type vars zip cast TypeVar field append extend items keys values get pop update join split strip
    startswith endswith True False None not deque defaultdict OrderedDict Counter namedtuple partial wraps
    assert_never suppress fail
    """
)

# Verbs that say little without their object's name.
WEAK_VERBS = word_set(
    """
    add append copy count extend find format get index insert join pop put replace set split strip update clear
    remove discard sort reverse lower title encode decode close read write do make run call use go let
    """
)

# What a plain call gives and its type, where that is certain; `{}` is what it is given.
VALUE_FUNCTIONS = {
    "len": ("the number of {}", "int"), "str": ("a string", "str"), "repr": ("a string", "str"),
    "int": ("an integer", "int"), "float": ("a number", "float"), "bool": ("true or false", "bool"),
    "list": ("a list of {}", "list"), "dict": ("a dict", "dict"), "set": ("a set of {}", "set"),
    "frozenset": ("a frozen set of {}", "frozenset"), "tuple": ("a tuple of {}", "tuple"),
    "sorted": ("a sorted list of {}", "list"), "sum": ("the sum of {}", ""), "max": ("the largest of {}", ""),
    "min": ("the smallest of {}", ""), "any": ("true or false", "bool"), "all": ("true or false", "bool"),
    "isinstance": ("true or false", "bool"), "issubclass": ("true or false", "bool"),
    "hasattr": ("true or false", "bool"), "callable": ("true or false", "bool"),
    "iter": ("an iterator over {}", "Iterator"), "reversed": ("{} in reverse", ""),
    "map": ("an iterator", "Iterator"), "filter": ("an iterator", "Iterator"),
    "zip": ("an iterator of pairs", "Iterator"), "enumerate": ("an iterator of numbered items", "Iterator"),
    "range": ("a range", "range"), "getattr": ("an attribute", ""), "next": ("the next item", ""),
    "type": ("a type", "type"), "hash": ("a hash", "int"), "id": ("an ID", "int"), "abs": ("an absolute value", ""),
    "round": ("a rounded number", ""), "copy": ("a copy", ""), "deepcopy": ("a deep copy", ""),
    "partial": ("a function with bound arguments", "Callable"), "dumps": ("encoded text", "str"),
    "loads": ("the decoded value", ""), "open": ("an open file", ""), "super": ("what the base class gives", ""),
    "cast": ("the value", ""), "object": ("a new object", "object"), "chain": ("an iterator", "Iterator"),
    "bytes": ("bytes", "bytes"), "bytearray": ("a byte array", "bytearray"), "ord": ("a code point", "int"),
    "chr": ("a character", "str"),
}  # fmt: skip
# The same for a method, by its name.
VALUE_METHODS = {
    "join": ("a joined string", "str"), "format": ("a formatted string", "str"),
    "strip": ("a stripped string", "str"), "lower": ("a lower-case string", "str"),
    "upper": ("an upper-case string", "str"), "replace": ("a changed copy", ""),
    "sub": ("the text with replacements", "str"), "match": ("a match or nothing", ""),
    "search": ("a match or nothing", ""), "findall": ("all matches", "list"), "finditer": ("the matches", "Iterator"),
    "fullmatch": ("a match or nothing", ""), "startswith": ("true or false", "bool"),
    "endswith": ("true or false", "bool"), "encode": ("encoded bytes", ""), "decode": ("decoded text", ""),
    "split": ("a list of parts", "list"), "splitlines": ("a list of lines", "list"),
    "items": ("pairs of key and value", ""), "keys": ("the keys", ""), "values": ("the values", ""),
    "get": ("the value found", ""), "pop": ("the removed item", ""), "copy": ("a copy", ""),
    "deepcopy": ("a deep copy", ""), "partial": ("a function with bound arguments", "Callable"),
    "dumps": ("encoded text", "str"), "loads": ("the decoded value", ""), "exists": ("true or false", "bool"),
    "chain": ("an iterator", "Iterator"), "read": ("what was read", ""),
}  # fmt: skip
