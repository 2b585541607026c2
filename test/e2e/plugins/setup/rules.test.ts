/** The pure rules of the setup path: sources, schedules, scripts, grants (contract 60). */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { grantScopes } from '../../../../plugins/setup/application-tokens.js';
import { buildSchedule, getScheduleStep } from '../../../../plugins/setup/schedule.js';
import { buildReportScript, TOKEN_FILE_NAME } from '../../../../plugins/setup/report-script.js';
import { toScriptFileName, toMonitorSource } from '../../../../plugins/setup/monitor-source.js';
import { MONITOR_SOURCE_PATTERN } from '../../../../ports/domain/watchdog.js';

const run = promisify(execFile);

describe('setup: rules', () => {
  it('derives a source from any name, with dashes for invalid characters, or returns none', () => {
    const cases: [string, string | null][] = [
      ['web-1', 'web-1'],
      ['Büro Server 2', 'B-ro-Server-2'],
      ['  db@eu/1:main  ', 'db@eu/1:main'],
      ['../etc', '--/etc'],
      ['a/./b', 'a/-/b'],
      ['💥', null],
      ['---', null],
      ['x'.repeat(200), 'x'.repeat(128)],
    ];
    for (const [name, source] of cases) expect(toMonitorSource(name), name).to.equal(source);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        const source = toMonitorSource(name);
        if (source !== null) expect(source).to.match(MONITOR_SOURCE_PATTERN);
        if (source !== null) expect(toScriptFileName(source, '.sh')).to.match(/^[A-Za-z0-9._-]{1,64}$/);
      }),
    );
  });

  it('grants requested scopes that project and role allow, and lists the denied scopes', () => {
    const allowed = ['bugtracker:report', 'updateservice:publish', 'watchdog:manage', 'setup:install'];
    const cases: [string[] | undefined, 'admin' | 'installer', string[], string[]][] = [
      [undefined, 'installer', ['bugtracker:report'], ['updateservice:publish', 'watchdog:manage', 'setup:install']],
      [undefined, 'admin', ['bugtracker:report', 'updateservice:publish', 'watchdog:manage'], ['setup:install']],
      [['bugtracker:report', 'bugtracker:report'], 'installer', ['bugtracker:report'], []],
      [['bugtracker:manage', 'nonsense'], 'admin', [], ['bugtracker:manage', 'nonsense']],
      [[], 'admin', [], []],
    ];
    for (const [requested, role, scopes, denied] of cases)
      expect(grantScopes(allowed, requested, role)).to.deep.equal({ scopes, denied });
  });

  it('repeats at least as often as the interval, in steps that divide an hour or a day evenly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 86_400 }), fc.string(), (seconds, source) => {
        const step = getScheduleStep(seconds);
        const every = 'hours' in step ? step.hours * 3600 : step.minutes * 60;
        expect(every).to.be.at.most(seconds);
        expect(('hours' in step ? 86_400 : 3600) % every).to.equal(0);
        const { expression } = buildSchedule('linux-x64', source, seconds, 'x.sh');
        const fields = expression.split(' ');
        expect(fields).to.have.length(5);
        expect(expression).to.match(/^[\d*/ -]+$/);
        for (const [i, most] of [59, 23].entries()) {
          const first = /^\d+/.exec(fields[i] ?? '')?.[0];
          if (first !== undefined) expect(Number(first)).to.be.at.most(most);
        }
      }),
    );
    expect(buildSchedule('linux-x64', 'web-1', 60, 'h.sh')).to.deep.equal({
      kind: 'cron',
      expression: '* * * * *',
      command: '/bin/sh "{dir}/h.sh" --jitter',
    });
    expect(buildSchedule('win-x64', 'web-1', 300, 'h.ps1')).to.deep.equal({
      kind: 'schtasks',
      expression: '/SC MINUTE /MO 5',
      command: 'powershell.exe -NoProfile -ExecutionPolicy Bypass -File "{dir}\\h.ps1" -Jitter',
    });
  });

  it('sets filename, hash and line endings of a script for its platform', () => {
    const reporting = { url: 'https://aos.example/api/watchdog/v1/ping', source: 'web-1', interval_seconds: 60 };
    const linux = buildReportScript('linux-x64', reporting);
    expect(linux).to.include({ filename: 'heartbeat-web-1.sh', mode: '0700', eol: 'lf' });
    expect(linux.content)
      .to.match(/^#!\/bin\/sh\n/)
      .and.to.include('LC_ALL=C')
      .and.to.include('--max-time 10');
    expect(linux.content).not.to.include('\r');
    expect(linux.sha256).to.equal(hash('sha256', linux.content));
    const windows = buildReportScript('win-x64', reporting);
    expect(windows).to.include({ filename: 'heartbeat-web-1.ps1', eol: 'crlf' });
    expect(
      windows.content
        .split('\n')
        .slice(0, -1)
        .every((text) => text.endsWith('\r')),
    ).to.equal(true);
    expect(() => buildReportScript('linux-x64', { ...reporting, url: "https://x/'; rm -rf /" })).to.throw(RangeError);
  });

  for (const shell of ['dash', 'bash', 'busybox sh']) {
    it(`formats numbers with a point in a German locale, and hides the token from argv (${shell})`, async function () {
      const [program = '', ...first] = shell.split(' ');
      if (!(await run('sh', ['-c', `command -v ${program}`]).catch(() => null))) this.skip();
      const received: { token: string | undefined; body: string }[] = [];
      const server = createServer((request: IncomingMessage, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
        request.on('end', () => {
          received.push({ token: request.headers.authorization, body });
          response.end('{}');
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping`;
      const dir = await mkdtemp(join(tmpdir(), 'aos setup '));
      try {
        const script = buildReportScript('linux-x64', { url, source: 'web-1', interval_seconds: 60 });
        expect(script.content.split('\n').filter((text) => text.includes('curl --config')).length).to.equal(1);
        await writeFile(join(dir, script.filename), script.content);
        await writeFile(join(dir, TOKEN_FILE_NAME), 'wd_live_secret\n');
        await chmod(join(dir, TOKEN_FILE_NAME), 0o600);
        await run(program, [...first, join(dir, script.filename)], {
          env: { LC_ALL: 'de_DE.UTF-8', LC_NUMERIC: 'de_DE.UTF-8' },
        });
        expect(received).to.have.length(1);
        expect(received[0]?.token).to.equal('Bearer wd_live_secret');
        const body = JSON.parse(received[0]?.body ?? '') as { metrics: Record<string, number> };
        expect(body).to.deep.include({ source: 'web-1', status: 'ok', interval: 60 });
        expect(Object.keys(body.metrics)).to.have.members(['load', 'memory_percent', 'disk_percent', 'uptime_seconds']);
        for (const value of Object.values(body.metrics)) expect(value).to.be.a('number').and.at.least(0);
      } finally {
        server.close();
        await rm(dir, { recursive: true });
      }
    });
  }

  it('fails with the reason when its token is missing', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'aos-setup-'));
    try {
      const script = buildReportScript('linux-x64', {
        url: 'http://127.0.0.1:9/',
        source: 'web-1',
        interval_seconds: 60,
      });
      await writeFile(join(dir, 's.sh'), script.content);
      const error = (await run('sh', [join(dir, 's.sh')]).catch((cause: unknown) => cause)) as {
        code: number;
        stderr: string;
      };
      expect(error.code).to.equal(1);
      expect(error.stderr).to.include(TOKEN_FILE_NAME);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
