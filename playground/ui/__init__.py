"""What only the app needs: its launch, its state, its widgets. The pages are thin on top of it."""
