"""What a transcript's replays were judged by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scorecard",
        sa.Column("transcript", sa.String(length=64), nullable=False),
        sa.Column("configuration", sa.String(length=64), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("transcript_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["transcript_id"], ["transcript.id"], name="fk_scorecard_transcript_id_transcript", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("transcript", "configuration", "engine", name="pk_scorecard"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_scorecard_transcript_id", "scorecard", ["transcript_id"])
