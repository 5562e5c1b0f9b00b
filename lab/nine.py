"""The nine combinations of links and end mass: hanging at rest, released sideways."""
import sys, time
import numpy as np
from ropelab import Lab

def straight(n, ratio, sideways, L=400.0, m=1.0, **kw):
    s = np.linspace(0, L, n + 1)
    x = np.stack([s, 0 * s], 1) if sideways else np.stack([0 * s, s], 1)
    mass = np.full(n + 1, m / n); mass[0] *= .5; mass[-1] = .5 * m / n + ratio * m
    return Lab(x, mass, held=[0], **kw)

def report(n, ratio, sideways, secs=10.0, sub=8, **kw):
    lab = straight(n, ratio, sideways, **kw)
    L = lab.rest.sum()
    h = 1 / 60 / sub
    t = time.perf_counter()
    o = lab.run(int(round(secs / h)), h)
    t = time.perf_counter() - t
    scale = lab.mass[1:].sum() * 900 * L
    err = np.abs(o[:, 1] / L - 1).max()
    e = o[:, 0] / scale
    print(f"n {n:5d} M/m {ratio:5d} side {sideways:d}  len err max {err*100:9.4f}% end {abs(o[-60:,1]/L-1).max()*100:8.4f}%"
          f" link {np.nanmax(o[:,2])*100:9.3f}%  E max {np.nanmax(e)-e[0]:+.2e} end {e[-1]-e[0]:+.4f}  passes mean {o[:,3].mean():.2f} max {o[:,3].max():.0f}"
          f"  ns {t/len(o)/n*1e9:.0f} viol {(o[:,12]>0).mean()*100:.1f}% resid {np.nanmax(o[:,6]):.1e}")
    return o

if __name__ == "__main__":
    for side in (0, 1):
        for n in (20, 200, 1000):
            for r in (1, 100, 1000):
                report(n, r, side, secs=float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
