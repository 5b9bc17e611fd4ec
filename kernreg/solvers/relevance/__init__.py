"""How much each feature matters: weights under which a kernel predicts best.

scaler.py    FeatureRelevance: the estimator, samples times weights
descent.py   from equal weights downhill, batch by batch, and whether held-out samples agree
loss.py      the leave-one-out error of a batch, and its derivative by every weight and by γ
batches.py   neighbourhoods of samples, some held out
"""
