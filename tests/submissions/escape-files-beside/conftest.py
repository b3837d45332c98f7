open('/tmp/attention-canary.txt', 'w').write('gone')
raise SystemExit
