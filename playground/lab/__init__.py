"""The doors to the plugins that explain dialects, check them and derive them."""
