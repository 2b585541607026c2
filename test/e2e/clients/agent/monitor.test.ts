/**
 * `--action monitor` before the real service: monitor, token, script, heartbeat and the crontab's
 * line (contracts 60 and 90).
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { buildCronLine, replaceLine } from '../../../../clients/agent/monitoring/crontab.js';
import { parseOffer } from '../../../../clients/agent/monitoring/offer.js';
import { buildReportScript } from '../../../../plugins/setup/report-script.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { remove, runAgent, runAlike, scratch, type Ran } from './agent.js';

const run = promisify(execFile);

/** Keeps its text in a file, and refuses as the real one does. */
const CRONTAB = `#!/bin/sh
here=$(dirname "$0")
[ -f "$here/broken" ] && { echo "crontab: cannot open /var/spool/cron" >&2; exit 1; }
if [ "$1" = -l ]; then
  [ -f "$here/text" ] || { echo "no crontab for $(id -un)" >&2; exit 1; }
  exec cat "$here/text"
fi
exec cat >"$here/text"
`;

describe('update-agent: monitor', function () {
  let service: TestService;
  let read: string;
  let home: string;
  let tools: string;

  before(async () => {
    service = await TestService.createInProcess();
    read = await service.createToken('watchdog:read');
  });
  after(() => service.dispose());
  beforeEach(async () => {
    home = await scratch();
    tools = join(home, 'tools');
    await mkdir(tools);
    await writeFile(join(tools, 'crontab'), CRONTAB, { mode: 0o755 });
  });
  afterEach(() => remove(home));

  const monitoring = (args: string[]): string[] => {
    return ['--action', 'monitor', '--server', service.url, '--username', ADMIN_ACCOUNT.username, ...args];
  };
  const around = (): Record<string, string> => {
    return { SVC_PASSWORD: ADMIN_ACCOUNT.password, HOME: home, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}` };
  };
  const go = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    runAlike(monitoring(args), { ...around(), ...env });
  const monitors = async (): Promise<Record<string, unknown>[]> =>
    (await service.request('GET', '/api/watchdog/v1/monitors', read)).body['items'] as Record<string, unknown>[];
  const monitorOf = async (source: string): Promise<Record<string, unknown> | undefined> =>
    (await monitors()).find((one) => one['source'] === source);
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;
  const crontab = (): Promise<string> => readFile(join(tools, 'text'), 'utf8');

  it('creates monitor, token and script, sends one heartbeat, and adds its line to the crontab', async () => {
    const dir = join(home, "100 % o'clock");
    await writeFile(join(tools, 'text'), '# mine\nMAILTO=me\n');
    const ran = await runAgent(monitoring(['--dir', dir, '--monitor-name', 'Web 1', '--schedule']), { env: around() });
    const script = join(dir, 'heartbeat-Web-1.sh');
    expect(ran, ran.stderr).to.include({ code: 0, stderr: '' });
    expect(ran.stdout).to.equal(`MONITORED: Web-1 by ${script}, scheduled * * * * *\n`);
    expect(await modeOf(dir)).to.equal(0o700);
    expect(await modeOf(join(dir, 'watchdog.token'))).to.equal(0o600);
    expect(await modeOf(script)).to.equal(0o700);
    expect((await readdir(dir)).sort()).to.deep.equal(['heartbeat-Web-1.sh', 'watchdog.token']);
    const monitor = await monitorOf('Web-1');
    expect(monitor).to.include({ name: 'Web 1', state: 'up', os: 'linux', interval_seconds: 60 });
    expect(monitor?.['last_heartbeat_at']).to.be.a('string');
    const lines = (await crontab()).split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['# mine', 'MAILTO=me']);
    expect(lines[2]).to.match(/^\* \* \* \* \* \/bin\/sh .* --jitter >\/dev\/null 2>&1 # aos:Web-1$/);
    expect(lines.slice(3)).to.deep.equal(['']);
    // What cron makes of the line: an escaped percent sign is one, and all of it goes to a shell.
    const before = monitor?.['last_heartbeat_at'];
    const command = (lines[2] ?? '').split(' ').slice(5).join(' ').replaceAll('\\%', '%').replace(' --jitter', '');
    await run('/bin/sh', ['-c', command], { env: {} });
    expect((await monitorOf('Web-1'))?.['last_heartbeat_at']).not.to.equal(before);
  });

  it('writes no file in the test heartbeat when the inherited HOME has a .curlrc', async () => {
    await writeFile(join(home, '.curlrc'), `trace-ascii = "${join(home, 'planted')}"\n`);
    const ran = await go(['--dir', join(home, 'm'), '--monitor-name', 'curlrc', '--yes']);
    expect(ran.code, ran.stderr).to.equal(0);
    expect((await monitorOf('curlrc'))?.['state']).to.equal('up');
    expect(await readdir(home)).to.not.include('planted');
  });

  it('replaces only token, script and its own crontab line, and retains the monitor', async () => {
    const dir = join(home, 'm');
    const args = ['--dir', dir, '--monitor-name', 'again', '--schedule'];
    await go(args);
    const first = await monitorOf('again');
    const token = await readFile(join(dir, 'watchdog.token'), 'utf8');
    await writeFile(join(tools, 'text'), `1 2 3 4 5 a # aos:again-2\n${await crontab()}6 7 8 9 0 b\n`);
    const rejected = await go(args);
    expect(rejected.code).to.equal(1);
    expect(rejected.stderr).to.include('Monitor again already exists').and.include('--replace');
    expect(await readFile(join(dir, 'watchdog.token'), 'utf8')).to.equal(token);
    const ran = await go([...args, '--replace']);
    expect(ran.code, ran.stderr).to.equal(0);
    expect((await monitorOf('again'))?.['id']).to.equal(first?.['id']);
    expect(await readFile(join(dir, 'watchdog.token'), 'utf8')).not.to.equal(token);
    const old = await service.request('POST', '/api/watchdog/v1/ping', token.trim(), { source: 'again', status: 'ok' });
    expect(old.status).to.equal(401);
    const lines = (await crontab()).split('\n');
    expect(lines).to.have.length(4);
    expect(lines[0]).to.equal('1 2 3 4 5 a # aos:again-2');
    expect(lines[1]).to.match(/ # aos:again$/);
    expect(lines[2]).to.equal('6 7 8 9 0 b');
  });

  it('accepts every default with --yes, and schedules nothing', async () => {
    const ran = await go(['--yes', '--json', '--dir', join(home, 'm')]);
    expect(ran.code, ran.stderr).to.equal(0);
    const event = JSON.parse(ran.stdout) as Record<string, unknown>;
    expect(event).to.include({ event: 'monitored', schedule: null });
    expect((await monitorOf(event['source'] as string))?.['name']).to.equal(hostname());
    expect(await readdir(tools)).to.deep.equal(['crontab']);
  });

  it('aborts before any change when the crontab cannot be read', async () => {
    await writeFile(join(tools, 'text'), '# mine\n');
    await writeFile(join(tools, 'broken'), '');
    const ran = await go(['--dir', join(home, 'm'), '--monitor-name', 'broken', '--schedule']);
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.include('cannot open /var/spool/cron');
    expect(await monitorOf('broken')).to.equal(undefined);
    expect(await crontab()).to.equal('# mine\n');
  });

  it('writes the first line of a user without a crontab', async () => {
    const ran = await go(['--dir', join(home, 'm'), '--monitor-name', 'first', '--schedule']);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(await crontab()).to.match(/^[^\n]+ # aos:first\n$/);
  });

  it('never combines one machine’s token with another machine’s script', async () => {
    const dir = join(home, 'm');
    await go(['--dir', dir, '--monitor-name', 'one', '--yes']);
    const ran = await go(['--dir', dir, '--monitor-name', 'two', '--yes']);
    expect(ran.code).to.equal(64);
    expect(ran.stderr).to.include('heartbeat-one.sh');
    expect((await readdir(dir)).sort()).to.deep.equal(['heartbeat-one.sh', 'watchdog.token']);
  });

  /** Outcomes of what stands in the way. */
  const table: { when: string; args: string[]; env?: Record<string, string>; code: number; output: RegExp }[] = [
    {
      when: 'the password is wrong',
      args: ['--yes'],
      env: { SVC_PASSWORD: 'wrong' },
      code: 2,
      output: /^UNAUTHORIZED: access was denied for account admin: .*installer or admin/,
    },
    { when: 'nobody answers and no option does', args: ['--schedule'], code: 64, output: /--monitor-name is missing/ },
    { when: 'the schedule is not said', args: ['--monitor-name', 'x'], code: 64, output: /--schedule is missing/ },
    { when: 'the name has two lines', args: ['--monitor-name', 'a\nb'], code: 64, output: /--monitor-name must be/ },
    {
      when: 'the name leaves no source',
      args: ['--yes', '--monitor-name', '***'],
      code: 1,
      output: /name must contain a letter or a digit/,
    },
    { when: 'there is no password', args: ['--yes'], env: { SVC_PASSWORD: '' }, code: 64, output: /SVC_PASSWORD_FILE/ },
    {
      when: 'the project is unknown',
      args: ['--yes', '--monitor-name', 'x', '--project', 'nope'],
      code: 1,
      output: /nope/,
    },
  ];
  for (const { when, args, env, code, output } of table) {
    it(`exits ${code} when ${when}, and creates nothing`, async () => {
      const before = (await monitors()).length;
      const ran = await go(['--dir', join(home, 'm'), ...args], env);
      expect([ran.code, ran.stdout + ran.stderr]).to.satisfy(
        ([got, said]: [number, string]) => got === code && output.test(said),
        ran.stdout + ran.stderr,
      );
      expect(await monitors()).to.have.length(before);
    });
  }

  it('rejects a directory that other users can write to', async () => {
    const dir = join(home, 'open');
    await mkdir(dir);
    await chmod(dir, 0o777);
    const ran = await go(['--dir', dir, '--yes', '--monitor-name', 'open']);
    expect(ran.code).to.equal(9);
    expect(await monitorOf('open')).to.equal(undefined);
  });
});

describe('update-agent: crontab', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._:@/-]{1,20}$/);
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));

  it('preserves every other line, and contains its own line exactly once', () => {
    fc.assert(
      fc.property(fc.array(line), word, (others, source) => {
        const mine = `* * * * * x # aos:${source}`;
        const rest = others.filter((one) => !one.endsWith(` # aos:${source}`));
        const text = Buffer.from(rest.map((one) => `${one}\n`).join('')).toString('latin1');
        const once = replaceLine(text, mine, source);
        expect(once).to.equal(`${text}${mine}\n`);
        expect(replaceLine(once, mine, source)).to.equal(once);
      }),
    );
  });

  it('terminates a last line without a line break', () => {
    expect(replaceLine('a', 'b', 's')).to.equal('a\nb\n');
  });

  it('quotes any path so that the shell restores the original', async () => {
    const path = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).filter((text) => !/\p{Cc}/u.test(text));
    await fc.assert(
      fc.asyncProperty(path, async (script) => {
        const text = buildCronLine('* * * * *', script, 's')
          .split(' ')
          .slice(6)
          .join(' ')
          .replace(/ --jitter .*$/s, '');
        expect(text.replaceAll('\\%', '')).not.to.include('%');
        const { stdout } = await run('/bin/sh', ['-c', `printf %s ${text.replaceAll('\\%', '%')}`]);
        expect(stdout).to.equal(script.toWellFormed());
      }),
      { numRuns: 50 },
    );
    expect(() => buildCronLine('* * * * *', '/a\nb', 's')).to.throw(/control characters/);
  });
});

describe('update-agent: validation of monitor responses', () => {
  const script = buildReportScript('linux-x64', {
    url: 'https://aos.example/ping',
    source: 'web',
    interval_seconds: 60,
  });
  const good = {
    monitor: { source: 'web' },
    token: `wd_live_${'a'.repeat(43)}`,
    scopes: ['watchdog:ping'],
    script: { filename: script.filename, sha256: script.sha256, content: script.content },
    schedule: { kind: 'cron', expression: '*/5 0-23/2 * * *' },
  };

  it('accepts a valid response', () => {
    expect(parseOffer(good, 'cron')).to.deep.include({ source: 'web', schedule: { expression: '*/5 0-23/2 * * *' } });
  });

  /** Malicious mirror: each field may lead elsewhere. */
  const lies: [string, object][] = [
    ['monitor', { monitor: null }],
    ['monitor.source', { monitor: { source: 'a\n* * * * * evil' } }],
    ['token', { token: 'wd_live_a"\nurl = "http://evil' }],
    ['token', { token: 'svc_master' }],
    ['scopes', { scopes: ['watchdog:ping', 'watchdog:manage'] }],
    ['script.filename', { script: { ...good.script, filename: '../evil.sh' } }],
    ['script.filename', { script: { ...good.script, filename: '..' } }],
    ['script.filename', { script: { ...good.script, filename: 'watchdog.token' } }],
    ['script.content', { script: { ...good.script, content: 'a\0b' } }],
    ['script.sha256', { script: { ...good.script, content: `${good.script.content}evil` } }],
    ['schedule.kind', { schedule: { ...good.schedule, kind: 'schtasks' } }],
    ['schedule.expression', { schedule: { ...good.schedule, expression: '* * * * * evil' } }],
    ['schedule.expression', { schedule: { ...good.schedule, expression: '* * * *\t*' } }],
    ['schedule.expression', { schedule: { ...good.schedule, expression: '@reboot' } }],
  ];
  for (const [field, lie] of lies) {
    it(`rejects a wrong ${field}: ${JSON.stringify(lie).slice(0, 60)}`, () => {
      expect(() => parseOffer({ ...good, ...lie }, 'cron')).to.throw(`server response: ${field} `);
    });
  }
});
