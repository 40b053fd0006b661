"""The one meaning of relations: parses, evaluates and tells them."""
