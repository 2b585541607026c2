/**
 * Runs the real agent at a terminal of its own (a pty that Python opens), and types answers to its
 * questions.
 */
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { MAIN } from './agent.js';

export const hasTerminal = process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty']).status === 0;

/** Waits for each text, then types its answer; `eof` and `interrupt` are keys. */
export interface Typed {
  /** What the screen has to show, after what was answered before. */
  when: string;
  type: string;
}

const BRIDGE = `
import json, os, pty, select, sys, time
plan = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(plan['cwd'])
    os.execvpe(plan['argv'][0], plan['argv'], plan['env'])
seen, mark, typed, end = '', 0, 0, time.time() + plan['seconds']
while time.time() < end:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try: piece = os.read(terminal, 65536)
        except OSError: piece = b''
        if not piece: break
        seen += piece.decode('utf-8', 'replace')
    if typed < len(plan['typed']):
        one = plan['typed'][typed]
        at = seen.find(one['when'], mark)
        if at >= 0:
            mark = at + len(one['when']); typed += 1
            # The question is shown before the terminal listens.
            time.sleep(0.15)
            if plan['family']:
                with open('/proc/%d/task/%d/children' % (pid, pid)) as children, open(plan['family'], 'a') as found:
                    found.write(children.read())
            os.write(terminal, one['type'].encode())
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
print(json.dumps({'code': os.waitstatus_to_exitcode(status), 'screen': seen, 'typed': typed}))
`;

export interface Session {
  code: number;
  /** All that the terminal showed. */
  screen: string;
  /** How many answers were typed. */
  typed: number;
}

interface Surroundings {
  env?: Record<string, string>;
  cwd?: string;
  seconds?: number;
  /** The program, and what stands before its arguments. */
  command?: readonly string[];
  /** A file that gets the numbers of the program's children at each answer. */
  family?: string | null;
}

export function atTerminal(
  args: readonly string[],
  typed: readonly Typed[],
  { env = {}, cwd = tmpdir(), seconds = 60, command = [process.execPath, MAIN], family = null }: Surroundings = {},
): Promise<Session> {
  const around = {
    PATH: process.env.PATH ?? '',
    HOME: tmpdir(),
    TERM: 'xterm',
    NO_PROXY: '127.0.0.1,localhost',
    ...env,
  };
  const plan = { argv: [...command, ...args], env: around, cwd, typed, seconds, family };
  const child = spawn('python3', ['-c', BRIDGE], { stdio: ['pipe', 'pipe', 'inherit'] });
  let answer = '';
  child.stdout.on('data', (piece: Buffer) => (answer += piece.toString()));
  child.stdin.end(JSON.stringify(plan));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(JSON.parse(answer) as Session));
  });
}
