"""What Prompt Inspector knows: transcripts, token counts, strategies and the runtime that production loads.

Nothing in this package imports Streamlit, pandas, Altair or SQLAlchemy, and all its imports are relative, so
that production can install it alone (`pyproject.toml` maps it to the name `prompt_inspector`).
"""

ENGINE_VERSION = "1.0.0"
