#!/usr/bin/env python3
"""Renames public names by what they are, not by how they are spelt: rust-analyzer over LSP.

usage: tools/rename/rename.py ROOT TABLE.tsv [--check] [--target wasm32-unknown-unknown]

Lines of the table: crate folder, container (struct, enum, trait or variant; "-" for an item of
the top level), old name, new name, separated by tabs; a fifth field names the file where the
first three fit several. --check only looks the names up. What rust-analyzer does not see is left
for the compiler to find: doctests, comments, code for another target (run again with --target),
and strings, which are data and stay. Needs `rustup component add rust-analyzer rust-src`."""
import json, subprocess, sys, os, re, threading, queue, time, pathlib
root=os.path.abspath(sys.argv[1]); table=sys.argv[2]
target=sys.argv[sys.argv.index('--target')+1] if '--target' in sys.argv else None
log=subprocess.DEVNULL
p=subprocess.Popen(['nice','-n','15','rust-analyzer'],stdin=subprocess.PIPE,stdout=subprocess.PIPE,stderr=log,cwd=root)
resp={}; cond=threading.Condition(); state={'quiescent':False}
def reader():
    while True:
        h={}
        while True:
            l=p.stdout.readline()
            if not l: return
            l=l.strip()
            if not l: break
            k,v=l.split(b':',1); h[k.lower()]=v.strip()
        m=json.loads(p.stdout.read(int(h[b'content-length'])))
        with cond:
            if 'id' in m and 'method' in m:
                send({'jsonrpc':'2.0','id':m['id'],'result':None})
            elif 'id' in m: resp[m['id']]=m
            elif m['method']=='experimental/serverStatus':
                state['quiescent']=m['params'].get('quiescent'); state['health']=m['params']
            cond.notify_all()
wl=threading.Lock()
def send(m):
    b=json.dumps(m).encode()
    with wl:
        p.stdin.write(b'Content-Length: %d\r\n\r\n'%len(b)+b); p.stdin.flush()
n=[0]
def call(method,params,timeout=900):
    n[0]+=1; i=n[0]; send({'jsonrpc':'2.0','id':i,'method':method,'params':params})
    end=time.time()+timeout
    with cond:
        while i not in resp:
            if not cond.wait(end-time.time()) and time.time()>end: raise TimeoutError(method)
        return resp.pop(i)
def uri(path): return pathlib.Path(path).as_uri()
threading.Thread(target=reader,daemon=True).start()
linked=[os.path.join(root,'Cargo.toml')]+[os.path.join(root,d,'Cargo.toml') for d in ('bench','fuzz') if os.path.exists(os.path.join(root,d,'Cargo.toml'))]
opts={'checkOnSave':False,'linkedProjects':linked,'cargo':{'allTargets':True,'buildScripts':{'enable':True},'features':'all'},'procMacro':{'enable':True},'cachePriming':{'enable':False},'numThreads':2}
if target: opts['cargo']['target']=target
call('initialize',{'processId':os.getpid(),'rootUri':uri(root),'capabilities':{'experimental':{'serverStatusNotification':True},'workspace':{'workspaceEdit':{'documentChanges':True}},'textDocument':{'documentSymbol':{'hierarchicalDocumentSymbolSupport':True},'rename':{'prepareSupport':False}}},'initializationOptions':opts,'workspaceFolders':[{'uri':uri(root),'name':'r'}]})
send({'jsonrpc':'2.0','method':'initialized','params':{}})
t=time.time()
check='--check' in sys.argv
with cond:
    while not state['quiescent'] and not check:
        cond.wait(10)
        if time.time()-t>1500: break
print('ready after %.0f s'%(time.time()-t),state.get('health'),flush=True)
def symbols(path):
    r=call('textDocument/documentSymbol',{'textDocument':{'uri':uri(path)}})
    return r.get('result') or []
def impl_name(name):
    m=re.match(r'impl(?:<.*?>)?\s+(?:(?:.*?)\s+for\s+)?([A-Za-z_0-9:]+)',name)
    return m.group(1).split('::')[-1] if m else name
index={}
def walk(path,syms,container,is_trait_impl=False):
    for s in syms:
        nm=s['name']
        if nm.startswith('impl'):
            walk(path,s.get('children') or [],impl_name(nm),' for ' in nm); continue
        if not is_trait_impl:
            index.setdefault((container,nm),[]).append((path,s['selectionRange']['start'],s['kind']))
        walk(path,s.get('children') or [],container if s['kind']==2 else nm)
def apply(edit):
    ch={}
    for dc in edit.get('documentChanges',[]):
        if 'textDocument' in dc: ch.setdefault(dc['textDocument']['uri'],[]).extend(dc['edits'])
        else: print('  file op',dc)
    for u,e in (edit.get('changes') or {}).items(): ch.setdefault(u,[]).extend(e)
    files=0
    for u,edits in ch.items():
        path=u.replace('file://','')
        s=open(path,encoding='utf8').read(); lines=s.split('\n')
        offs=[0]
        for l in lines: offs.append(offs[-1]+len(l)+1)
        def off(pos):
            l=lines[pos['line']]; c=pos['character']
            b=l.encode('utf-16-le')[:c*2].decode('utf-16-le'); return offs[pos['line']]+len(b)
        es=sorted({(off(e['range']['start']),off(e['range']['end']),e['newText']) for e in edits},reverse=True)
        for a,b,t in es: s=s[:a]+t+s[b:]
        open(path,'w',encoding='utf8').write(s); files+=1
        send({'jsonrpc':'2.0','method':'workspace/didChangeWatchedFiles','params':{'changes':[{'uri':u,'type':2}]}})
    return files
rows=[l.rstrip('\n').split('\t') for l in open(table) if l.strip() and not l.startswith('#')]
def walk_all():
    idx={}
    for crate in sorted({r[0] for r in rows}):
        index.clear()
        for d,_,fs in os.walk(os.path.join(root,crate,'src')):
            for f in sorted(fs):
                if f.endswith('.rs'): walk(os.path.join(d,f),symbols(os.path.join(d,f)),'-')
        idx[crate]={k:list(v) for k,v in index.items()}
    return idx
if check: time.sleep(20)
idx=walk_all(); touched=set()
for crate,cont,old,new,*where in rows:
    ix=idx[crate]; hits=[h for h in ix.get((cont,old)) or [] if not where or h[0].endswith(where[0])]
    hits.sort(key=lambda hit: hit[2]==8)  # a method before a field of the same name
    if not hits: print('MISSING',crate,cont,old,flush=True); continue
    if len(hits)>1: print('AMBIGUOUS',crate,cont,old,[(os.path.relpath(h[0],root),h[1]['line']+1,h[2]) for h in hits],flush=True)
    if check: continue
    t=time.time(); path,pos,_=hits[0]
    r=call('textDocument/rename',{'textDocument':{'uri':uri(path)},'position':pos,'newName':new})
    if 'error' in r: print('ERROR',crate,cont,old,r['error'].get('message'),flush=True); continue
    done=apply(r['result']) if r.get('result') else 0
    ix[(cont,new)]=ix.pop((cont,old))
    if cont=='-':
        for k in [k for k in ix if k[0]==old]: ix[(new,k[1])]=ix.pop(k)
    print('%s::%s -> %s: %d files, %.1f s'%(cont,old,new,done,time.time()-t),flush=True)
call('shutdown',None); send({'jsonrpc':'2.0','method':'exit'})
