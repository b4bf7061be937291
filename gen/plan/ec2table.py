"""Common EC2 types and what they cost: facts, from public pages, as they stood then.

What is left of a machine for pods: the Karpenter AWS provider's page "Instance Types" of v1.14 (AL2023, no
block devices configured). Prices: the provider's own table of on-demand prices in us-east-1, in dollars an
hour, of `PRICED`. The page has no p3 any more; bare metal and small families are left out.
"""

PRICED = "2026-01-19"
SOURCE = "karpenter-provider-aws v1.14 instance types; on-demand prices us-east-1 of " + PRICED

# name, vCPU, memory in MiB, pods, NVIDIA GPUs, local NVMe in GB, price,
# and for pods: CPU in thousandths, memory in MiB
TABLE = """
c5.large        2    4096  29 0     0     0.085   1930    3114
c5.xlarge       4    8192  58 0     0      0.17   3920    6584
c5.2xlarge      8   16384  58 0     0      0.34   7910   14162
c5.4xlarge     16   32768 234 0     0      0.68  15890   27381
c5.9xlarge     36   73728 234 0     0      1.53  35840   65269
c5.12xlarge    48   98304 234 0     0      2.04  47810   88002
c5.18xlarge    72  147456 737 0     0      3.06  71750  127934
c5.24xlarge    96  196608 737 0     0      4.08  95690  173400
c6i.large       2    4096  29 0     0     0.085   1930    3114
c6i.xlarge      4    8192  58 0     0      0.17   3920    6584
c6i.2xlarge     8   16384  58 0     0      0.34   7910   14162
c6i.4xlarge    16   32768 234 0     0      0.68  15890   27381
c6i.8xlarge    32   65536 234 0     0      1.36  31850   57691
c6i.12xlarge   48   98304 234 0     0      2.04  47810   88002
c6i.16xlarge   64  131072 737 0     0      2.72  63770  112779
c6i.24xlarge   96  196608 737 0     0      4.08  95690  173400
c6i.32xlarge  128  262144 737 0     0      5.44 127610  234021
m5.large        2    8192  29 0     0     0.096   1930    6903
m5.xlarge       4   16384  58 0     0     0.192   3920   14162
m5.2xlarge      8   32768  58 0     0     0.384   7910   29317
m5.4xlarge     16   65536 234 0     0     0.768  15890   57691
m5.8xlarge     32  131072 234 0     0     1.536  31850  118312
m5.12xlarge    48  196608 234 0     0     2.304  47810  178933
m5.16xlarge    64  262144 737 0     0     3.072  63770  234021
m5.24xlarge    96  393216 737 0     0     4.608  95690  355262
m6i.large       2    8192  29 0     0     0.096   1930    6903
m6i.xlarge      4   16384  58 0     0     0.192   3920   14162
m6i.2xlarge     8   32768  58 0     0     0.384   7910   29317
m6i.4xlarge    16   65536 234 0     0     0.768  15890   57691
m6i.8xlarge    32  131072 234 0     0     1.536  31850  118312
m6i.12xlarge   48  196608 234 0     0     2.304  47810  178933
m6i.16xlarge   64  262144 737 0     0     3.072  63770  234021
m6i.24xlarge   96  393216 737 0     0     4.608  95690  355262
m6i.32xlarge  128  524288 737 0     0     6.144 127610  476504
m7i.large       2    8192  29 0     0    0.1008   1930    6903
m7i.xlarge      4   16384  58 0     0    0.2016   3920   14162
m7i.2xlarge     8   32768  58 0     0    0.4032   7910   29317
m7i.4xlarge    16   65536 234 0     0    0.8064  15890   57691
m7i.8xlarge    32  131072 234 0     0    1.6128  31850  118312
m7i.12xlarge   48  196608 234 0     0    2.4192  47810  178933
m7i.16xlarge   64  262144 737 0     0    3.2256  63770  234021
m7i.24xlarge   96  393216 737 0     0    4.8384  95690  355262
m7i.48xlarge  192  786432 737 0     0    9.6768 191450  718987
r5.large        2   16384  29 0     0     0.126   1930   14481
r5.xlarge       4   32768  58 0     0     0.252   3920   29317
r5.2xlarge      8   65536  58 0     0     0.504   7910   59627
r5.4xlarge     16  131072 234 0     0     1.008  15890  118312
r5.8xlarge     32  262144 234 0     0     2.016  31850  239554
r5.12xlarge    48  393216 234 0     0     3.024  47810  360795
r5.16xlarge    64  524288 737 0     0     4.032  63770  476504
r5.24xlarge    96  786432 737 0     0     6.048  95690  718987
g4dn.xlarge     4   16384  29 1   125     0.526   3920   14481
g4dn.2xlarge    8   32768  29 1   225     0.752   7910   29636
g4dn.4xlarge   16   65536  29 1   225     1.204  15890   59946
g4dn.8xlarge   32  131072  58 1   900     2.176  31850  120248
g4dn.12xlarge  48  196608 234 4   900     3.912  47810  178933
g4dn.16xlarge  64  262144  58 1   900     4.352  63770  241490
g5.xlarge       4   16384  58 1   250     1.006   3920   14162
g5.2xlarge      8   32768  58 1   450     1.212   7910   29317
g5.4xlarge     16   65536 234 1   600     1.624  15890   57691
g5.8xlarge     32  131072 234 1   900     2.448  31850  118312
g5.12xlarge    48  196608 737 4  3800     5.672  47810  173400
g5.16xlarge    64  262144 234 1  1900     4.096  63770  239554
g5.24xlarge    96  393216 737 4  3800     8.144  95690  355262
g5.48xlarge   192  786432 345 8  7600    16.288 191450  723299
g6.xlarge       4   16384  58 1   250    0.8048   3920   14162
g6.2xlarge      8   32768  58 1   450    0.9776   7910   29317
g6.4xlarge     16   65536 234 1   600    1.3232  15890   57691
g6.8xlarge     32  131072 234 1   900    2.0144  31850  118312
g6.12xlarge    48  196608 234 4  3760    4.6016  47810  178933
g6.16xlarge    64  262144 737 1  1880    3.3968  63770  234021
g6.24xlarge    96  393216 737 4  3760    6.6752  95690  355262
g6.48xlarge   192  786432 737 8  7520   13.3504 191450  718987
p4d.24xlarge   96 1179648 737 8  8000 21.957642  95690 1082712
p5.4xlarge     16  262144 118 1  3800      6.88  15890  240830
p5.48xlarge   192 2097152 100 8 30400     55.04 191450 1938410
"""

# family: maker of the CPU; with GPUs also name and memory in MiB of each
FAMILIES = {
    "c5": ("intel",),
    "c6i": ("intel",),
    "m5": ("intel",),
    "m6i": ("intel",),
    "m7i": ("intel",),
    "r5": ("intel",),
    "g4dn": ("intel", "t4", "16384"),
    "g5": ("amd", "a10g", "22888"),
    "g6": ("amd", "l4", "22888"),
    "p4d": ("intel", "a100", "40960"),
    "p5": ("amd", "h100", "81920"),
}
