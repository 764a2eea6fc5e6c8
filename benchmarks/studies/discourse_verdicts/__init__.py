"""How often a careful reader agrees that what a discourse check marks is an error."""
