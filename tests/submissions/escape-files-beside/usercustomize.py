open('CANARY_FILE', 'w').write('gone')
raise SystemExit
