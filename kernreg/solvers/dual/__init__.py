"""Machines whose dual is linear in the targets: LS-SVM and AsK-LS."""
