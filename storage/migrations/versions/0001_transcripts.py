"""Transcripts, their messages and calls, what was computed for texts, and configurations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "configuration",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_configuration"),
        sa.UniqueConstraint("name", "version", name="uq_configuration_name_version"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "content",
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("json", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_content"),
    )
    op.create_table(
        "flag",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_flag"),
    )
    op.create_table(
        "transcript",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("capture_key", sa.Text(), nullable=True),
        sa.Column("dialect", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("meta", sa.Text(), nullable=False),
        sa.Column("models", sa.Text(), nullable=False),
        sa.Column("call_count", sa.Integer(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("peak_input", sa.Integer(), nullable=True),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_transcript"),
        sa.UniqueConstraint("capture_key", name="uq_transcript_capture_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_transcript_session", "transcript", ["session"])
    op.create_index(
        "ix_transcript_sha256",
        "transcript",
        ["sha256"],
        unique=True,
        sqlite_where=sa.text("capture_key IS NULL"),
        postgresql_where=sa.text("capture_key IS NULL"),
    )
    op.create_index("ix_transcript_updated_at", "transcript", ["updated_at"])
    op.create_table(
        "analysis",
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("counter", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_analysis_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("hash", "counter", name="pk_analysis"),
    )
    op.create_index("ix_analysis_transcript_id", "analysis", ["transcript_id"])
    op.create_table(
        "head",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["content"], ["content.hash"], name="fk_head_content_content"),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_head_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("transcript_id", "position", name="pk_head"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_head_content", "head", ["content"])
    op.create_table(
        "message",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("parent", sa.Integer(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["content"], ["content.hash"], name="fk_message_content_content"),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_message_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("transcript_id", "position", name="pk_message"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_message_chain_transcript_id", "message", ["chain", "transcript_id"])
    op.create_index("ix_message_content", "message", ["content"])
    op.create_table(
        "tag",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_tag_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("transcript_id", "name", name="pk_tag"),
    )
    op.create_index("ix_tag_name", "tag", ["name"])
    op.create_table(
        "call",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("captured", sa.Integer(), nullable=True),
        sa.Column("history", sa.Integer(), nullable=True),
        sa.Column("response", sa.LargeBinary(), nullable=True),
        sa.Column("hints", sa.LargeBinary(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("fidelity", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("cache_read_tokens", sa.Integer(), nullable=True),
        sa.Column("cache_write_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["hints"], ["content.hash"], name="fk_call_hints_content"),
        sa.ForeignKeyConstraint(["response"], ["content.hash"], name="fk_call_response_content"),
        sa.ForeignKeyConstraint(
            ["transcript_id", "captured"],
            ["message.transcript_id", "message.position"],
            name="fk_call_transcript_id_captured_message",
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id", "head"], ["head.transcript_id", "head.position"], name="fk_call_transcript_id_head_head"
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id", "history"],
            ["message.transcript_id", "message.position"],
            name="fk_call_transcript_id_history_message",
        ),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_call_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("transcript_id", "position", name="pk_call"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_call_hints", "call", ["hints"])
    op.create_index("ix_call_response", "call", ["response"])
    op.create_index("ix_call_transcript_id_captured", "call", ["transcript_id", "captured"])
    op.create_table(
        "variant",
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("call", sa.Integer(), nullable=False),
        sa.Column("message", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["content"], ["content.hash"], name="fk_variant_content_content"),
        sa.ForeignKeyConstraint(
            ["transcript_id", "call"],
            ["call.transcript_id", "call.position"],
            name="fk_variant_transcript_id_call_call",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("transcript_id", "call", "message", name="pk_variant"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_variant_content", "variant", ["content"])
