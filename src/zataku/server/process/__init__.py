"""The server process: listening, uvicorn, signals, logs, and the files in the data folder."""
