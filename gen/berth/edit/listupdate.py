"""Update a list that an import wrote: what stays keeps its line, and what changes its comment."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from berth.edit.datelists import add_entry, entry_order, set_keys
from berth.edit.roundtrip import MakeNode, insert_key, plain_value, to_block


def update_list(
    recurrence: Any, key: str, wanted: Sequence[Any], make: MakeNode, kept: Collection[str]
) -> None:
    """Give a list of a recurrence the wanted entries. `kept`: keys of an entry that belong to the file.

    One of the same date is changed where it is, and in the schedule the next one.
    """
    if not isinstance(recurrence.get(key), list):
        insert_key(recurrence, key, make([*wanted]), "schedule" if key == "except" else "")
        to_block(recurrence[key])
        return
    entries, left = recurrence[key], [*wanted]
    changed, removed = list[int](), list[int]()
    for index, entry in enumerate(entries):
        same = next((one for one in left if _plain(entry, kept) == _plain(one, kept)), None)
        if same is None:
            changed.append(index)
        else:
            left.remove(same)
    for index in changed:
        old = entries[index]
        new = next(
            (one for one in left if key == "schedule" or entry_order(one)[0] == entry_order(old)[0]), None
        )
        if new is None:
            removed.append(index)
            continue
        left.remove(new)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            _change(old, new, make, kept)
        else:
            entries[index] = make(new)
    for index in reversed(removed):
        del entries[index]
    for one in left:
        add_entry(recurrence, key, one, make)


def _change(entry: Any, wanted: Mapping[str, Any], make: MakeNode, kept: Collection[str]) -> None:
    """Set the keys of an entry; new ones are where the wanted entry has them."""
    set_keys(entry, {name: None for name in [*entry] if name not in wanted and name not in kept}, make)
    following = ""
    for name, value in reversed([*wanted.items()]):
        if name not in entry:
            insert_key(entry, name, make(value), following)
        elif isinstance(value, Mapping) and isinstance(entry[name], Mapping):
            _change(entry[name], value, make, ())
        else:
            set_keys(entry, {name: value}, make)
        following = name


def _plain(value: Any, kept: Collection[str]) -> Any:
    """Return an entry without what belongs to the file; one that is a date is as one with a date alone."""
    if isinstance(value, Mapping):
        return {name: inner for name, inner in plain_value(value).items() if name not in kept}
    return {"date": str(value)}
