"""The paper's theorems, looked at by experiment."""
