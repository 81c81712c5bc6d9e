"""The parts of the Configurations page: the list, one configuration in detail, and the way back in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.config import Configuration, load_config
from core.errors import ConfigError
from core.export import is_as_measured
from core.json_faults import json_fault
from core.wording import counted
from storage import Library
from storage.configs import SavedConfig

from .comparison import label
from .config_opening import compare_address, objects_in, opening_told
from .dates import day
from .edge import edge, escaped, show_error
from .production import needs, snippet
from .texts import bounded, file_name

CONFIG, VERSION = "config", "version"
"""Names in the address."""
CHANGED = "The settings were changed since then: the figures and the golden calls are of other ones."
DELETED = "config_deleted"
"""What is to be said of a deletion in the next run."""

LARGEST = 1
"""Megabytes of a file that is imported: an export has no transcript in it, and needs some kilobytes."""
MEGABYTE = 1 << 20
MOST_ROWS = 8
"""Rows shown at once; the others are scrolled to."""


def config_table(configs: Sequence[SavedConfig]) -> pd.DataFrame:
    """Return the list as a table. One that an older version saved and this one refuses is in it too."""
    loaded = [_loaded(saved) for saved in configs]
    usable = [config if isinstance(config, Configuration) else None for config in loaded]
    return pd.DataFrame(
        {
            "name": [saved.name for saved in configs],
            "version": [saved.version for saved in configs],
            "strategy": [label(config.model_copy(update={"name": ""})) if config else REFUSED for config in usable],
            "model": [(config.model.name or "any") if config else "" for config in usable],
            "soft limit": [
                _budget(config.budget.soft_limit, config.model.window) if config else "" for config in usable
            ],
            "note": [saved.note for saved in configs],
            "saved": [saved.created_at for saved in configs],
        }
    )


REFUSED = "cannot be used"
WHOLE = "configuration"
"""The key of a fault that is about a configuration as a whole."""


def _loaded(saved: SavedConfig) -> Configuration | ConfigError:
    try:
        return load_config(saved.body)
    except ConfigError as error:
        return error


def _budget(soft_limit: int | None, window: int | None) -> str:
    if soft_limit is not None:
        return f"{soft_limit:,}"
    return "no limit" if window is None else "from the window"


def config_list(configs: Sequence[SavedConfig]) -> SavedConfig:
    """Show the list, and return the chosen configuration: the one that the address names, else the first."""
    names = [saved.name for saved in configs]
    named = st.query_params.get(CONFIG)
    chosen = names.index(named) if named in names else 0
    if named and named not in names:
        st.warning(escaped(f"There is no configuration “{named}” here. The one saved last is shown."))
    event = st.dataframe(
        config_table(configs),
        key=f"configs_{len(configs)}_{configs[0].id}",
        on_select=lambda: st.session_state.pop(VERSION, None),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [chosen]}},
        hide_index=True,
        height="content" if len(configs) <= MOST_ROWS else 36 * MOST_ROWS,
        column_config={
            "name": st.column_config.TextColumn(width=260),
            "version": st.column_config.NumberColumn(width=70),
            "soft limit": st.column_config.TextColumn(alignment="right", width=110),
            "saved": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm", width=140),
        },
        alt="Saved configurations",
    )
    row = event.selection.rows[0] if event.selection.rows else chosen
    row = row if row < len(configs) else chosen
    st.query_params[CONFIG] = names[row]
    return configs[row]


def say_deleted() -> None:
    """Say that a configuration was deleted."""
    if told := st.session_state.pop(DELETED, None):
        st.toast(escaped(told), icon=":material/check:")


def config_detail(store: Library, newest: SavedConfig) -> None:
    """Show one configuration: its versions, its JSON, what can be done with it, and how production loads it."""
    versions = store.configs.versions(newest.name)
    left, right = st.columns(2, gap="large")
    with right:
        st.markdown(f"#### {escaped(newest.name)}")
        number = st.selectbox("Version", [saved.version for saved in versions], key=VERSION, bind="query-params")
        saved = next(saved for saved in versions if saved.version == number)
        st.caption(
            f"Saved {day(saved.created_at)}, {saved.created_at:%H:%M}"
            + (f" · {escaped(saved.note)}" if saved.note else "")
        )
        st.markdown(provenance_text(saved.body.get("provenance")))
        loaded = _loaded(saved)
        if isinstance(loaded, ConfigError):
            show_error(loaded)
        elif is_as_measured(loaded) is False:
            st.warning(CHANGED, icon=":material/difference:")
        _actions(store, saved, usable=isinstance(loaded, Configuration))
        if isinstance(loaded, Configuration):
            st.markdown("**In production**")
            st.code(snippet(loaded, _file_name(saved)), language="python")
            st.caption(needs(loaded))
    with left:
        bounded(_text(saved.body), "config_json", 620, _file_name(saved), language="json")


def _actions(store: Library, saved: SavedConfig, usable: bool) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "Download", _text(saved.body), _file_name(saved), "application/json", key="config_download",
            icon=":material/download:", on_click="ignore", type="primary",
        )  # fmt: skip
        if st.button("Open in Compare", icon=":material/compare_arrows:", key="config_compare", disabled=not usable):
            st.switch_page("compare.py", query_params=compare_address(store, saved))
        # One for each: left open, it would ask the same of the configuration that is shown next, under the same click.
        with st.popover("Delete", icon=":material/delete:", key=f"config_delete_{saved.name}", on_change="rerun"):
            st.markdown(f"All versions of **{escaped(saved.name)}** are deleted. This cannot be undone.")
            if st.button("Delete all versions", key="config_delete_now", type="primary"):
                store.configs.delete(saved.name)
                st.session_state[DELETED] = f"All versions of {saved.name} were deleted."
                st.query_params.pop(CONFIG, None)
                st.rerun()
    if usable and (told := opening_told(store, saved)):
        st.caption(escaped(told))


def provenance_text(provenance: Any) -> str:
    """Return in sentences what a configuration was measured on."""
    if not isinstance(provenance, Mapping) or not provenance:
        return "Written by hand or not exported from a comparison: nothing says what it was measured on."
    transcripts = objects_in(provenance.get("transcripts"))
    measured = next(iter(objects_in([provenance.get("measured")])), {})
    calls = sum(number for entry in transcripts if isinstance(number := entry.get("calls"), int))
    said = f"Measured on {counted(len(transcripts), 'transcript')} with {counted(calls, 'call')}"
    if isinstance(peak := measured.get("peak_tokens"), int):
        said += f": peak {counted(peak, 'token')}"
    if isinstance(total := measured.get("sum_tokens"), int):
        said += f", {total:,} over all calls"
    golden = len(objects_in(provenance.get("golden")))
    return escaped(f"{said}. {counted(golden, 'golden call')} to verify it with.")


def importer(store: Library) -> None:
    """Show the way in for an exported file: dropped or pasted, checked before it is stored."""
    round_number = st.session_state.setdefault("config_round", 0)
    if "config_imported" in st.session_state:
        st.session_state["config_import"] = False  # what is told of it stands below the popover
    with st.popover("Import", icon=":material/upload_file:", key="config_import", on_change="rerun"):
        file = st.file_uploader("An exported configuration", key=f"config_file_{round_number}", max_upload_size=LARGEST)
        st.caption(
            f"It needs some kilobytes, so a file of more than {LARGEST} MB is refused. A recorded run is added on the"
            " page Library."
        )
        text = st.text_area("or its JSON", key=f"config_text_{round_number}", height=140)
        ready = st.button("Import", key="config_import_now", type="primary", disabled=not (file or text.strip()))
        if ready:
            # In the popover, which stays open over the page.
            with edge():
                _import_now(store, file, text)
    if told := st.session_state.pop("config_imported", None):
        st.success(escaped(told), icon=":material/check:")


def _import_now(store: Library, file: UploadedFile | None, text: str) -> None:
    """Store what was dropped or pasted, and show it. ConfigError if it cannot be used."""
    name = PurePosixPath(file.name).stem if file else "pasted configuration"
    try:
        saved = import_config(store, name, file.getvalue().decode("utf-8", "replace") if file else text)
    except ConfigError as error:
        raise (in_file(error, file.name) if file else error) from None
    st.session_state["config_imported"] = f"Imported as version {saved.version} of {saved.name}."
    st.session_state["config_round"] += 1
    st.query_params[CONFIG] = saved.name
    st.rerun()


def in_file(error: ConfigError, file: str) -> ConfigError:
    """Return an error, and those beside it, with the name of the file that it is about."""
    key = file if error.key == WHOLE else f"{file}, {error.key}"
    return ConfigError(key, error.problem, error.suggestion, tuple(in_file(other, file) for other in error.more))


def import_config(store: Library, name: str, text: str) -> SavedConfig:
    """Check and store a configuration under its own name, else under `name`. ConfigError if it cannot be used."""
    size = len(text.encode("utf-8", "replace"))
    if size > LARGEST * MEGABYTE:
        problem = f"this has {size / MEGABYTE:,.1f} MB, and at most {LARGEST} MB are taken."
        raise ConfigError(WHOLE, problem, "If it is a transcript, add it on the page Library.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem, todo = f"this is not JSON: {json_fault(error)}.", "Export it again; a transcript is added on Library."
        raise ConfigError(WHOLE, problem, todo) from None
    if not isinstance(body, dict):
        raise ConfigError(WHOLE, "this is not an object.", "Export it again.")
    config = load_config(body)
    return store.configs.save(config.name or name, body, note="imported")


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2)


def _file_name(saved: SavedConfig) -> str:
    return f"{file_name(saved.name)}.json"
