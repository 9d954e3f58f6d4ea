"""A repository with one long function, whose branches have nothing to do with each other."""

# What each branch is about, by the name of its event.
BRANCHES = {
    "invoice": "total = round(net * VAT_RATE, 2)\nledger.write_invoice(total)",
    "parcel": "courier = pick_courier(event.weight)\ncourier.print_label(event.address)",
    "refund": "bank.transfer_back(event.amount)\nmail.send_apology(event.customer)",
    "holiday": "calendar.close_shop(event.first_day)\nsign.hang_on_door('back in august')",
    "burglary": "siren.start()\npolice.ring(event.window)",
    "inventory": "shelves = count_shelves(event.room)\nwarehouse.order_missing(shelves)",
}
# Lines that say nothing, so that a branch has ten.
_FILLER = "\n".join(f"log.debug(event, {number})" for number in range(7))


def _branch(name: str) -> str:
    lines = [f"if event.kind == '{name}':", *(f"    {line}" for line in f"{BRANCHES[name]}\n{_FILLER}".split("\n"))]
    return "\n".join(f"        {line}" for line in lines)


BODY = "\n".join(map(_branch, BRANCHES))
LOOP = f"""def run(events):
    for event in events:
{BODY}
"""
# Twice as many lines: too many to be read as a whole.
WORKER = f"""def work(events):
    for event in events:
{BODY}
{BODY.replace("event.kind", "event.second_kind")}
        if event.kind == 'end':
            return run(events)
"""
# Its short functions are described in words of the branches.
STATION = f"""def ring_bell(door):
    '''Ring the bell when somebody starts at the police station.'''
    return door


def start_siren(car):
    '''Start the siren of a police car.'''
    return car


{LOOP.replace("def run", "def dispatch")}"""
FILES = {
    "loop.py": LOOP,
    "station.py": STATION,
    "worker.py": WORKER,
    "main.py": "from loop import run\nfrom worker import work\n\nMOST_TRIES = 3\n\n\ndef main(events):\n"
    "    run(events)\n    work(events)\n\n\ndef again(events):\n    work(events)\n    return MOST_TRIES\n",
    "small.py": "def close_shop(day):\n    '''Close the shop.'''\n    return day\n",
}
LINES = {name: LOOP[: LOOP.index(f"== '{name}'")].count("\n") + 1 for name in BRANCHES}
