/**
 * Options and exit codes: one table for all of them (contract 90, exit codes, defaults and update
 * agent).
 */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_CODES } from '../../../../clients/agent/exit.js';
import { readOptions } from '../../../../clients/agent/options/index.js';
import { OPTION_SPECS } from '../../../../clients/agent/options/table.js';
import { createKeys, ReleaseServer, sha256, sign } from '../../../support/release-server.js';
import { install, MAIN, offlinePackage, remove, runAgent, runHere, scratch, type Ran } from './agent.js';

const keys = createKeys();

describe('update-agent: exit codes', function () {
  let server: ReleaseServer;
  let dir: string;
  let base: string[];

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
    await install(dir, server.publish({ version: '1.0.0', files: [{ path: 'lib/a', content: '1' }] }));
    server.publish({ version: '1.1.0', files: [{ path: 'lib/a', content: '2' }] });
    base = ['--server', server.url, '--dir', dir];
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  /** Offline, beside a `dotnet` that lists these runtimes. */
  async function installWithRuntime(list: string): Promise<Ran> {
    const release = server.publish({
      version: '2.0.0',
      files: [
        {
          path: 'App.runtimeconfig.json',
          content: JSON.stringify({
            runtimeOptions: { framework: { name: 'Microsoft.NETCore.App', version: '8.0.0' } },
          }),
        },
        { path: 'Own.runtimeconfig.json', content: '{"runtimeOptions":{"includedFrameworks":[]}}' },
      ],
    });
    const archive = await offlinePackage(join(dir, 'usb'), release, keys);
    await writeFile(join(dir, 'dotnet'), `#!/bin/sh\n[ "$1" = --list-runtimes ] && printf '%s' '${list}'\n`, {
      mode: 0o755,
    });
    const into = join(dir, 'new');
    const args = ['--action', 'install', '--package', archive, '--pin', sha256(keys.spki), '--dir', into];
    const ran = await runHere(args, { DOTNET_ROOT: dir });
    expect(existsSync(join(into, 'App.runtimeconfig.json')), 'after exit 10 the files stay').to.equal(true);
    return ran;
  }

  /** One situation for each code. */
  const table: { code: keyof typeof EXIT_CODES; when: string; run: () => Promise<Ran>; output: RegExp }[] = [
    { code: 'done', when: 'updated', run: () => runHere(base), output: /^UPDATED: 1\.0\.0 -> 1\.1\.0\n$/ },
    {
      code: 'done',
      when: 'current',
      run: () => {
        server.releases.pop();
        return runHere(base);
      },
      output: /^UP_TO_DATE: 1\.0\.0\n$/,
    },
    {
      code: 'error',
      when: 'the product is unknown',
      run: () => runHere([...base, '--project', 'none', '--adopt']),
      output: /not found/,
    },
    {
      code: 'unauthorized',
      when: 'the store refuses the credentials',
      run: () => {
        server.allowed = [];
        return runHere(base);
      },
      output: /^UNAUTHORIZED: /,
    },
    {
      code: 'unverified',
      when: 'the signature is wrong',
      run: () => {
        for (const release of server.releases) release.signature = sign(keys, 'x');
        return runHere(base);
      },
      output: /signature of the release is not valid/,
    },
    {
      code: 'rolledBack',
      when: 'an unlisted file is in the way',
      run: async () => {
        server.publish({ version: '1.1.0', files: [{ path: 'lib', content: 'x' }] });
        await writeFile(join(dir, 'lib', 'mine'), 'mine');
        return runHere(base);
      },
      output: /nothing was changed/,
    },
    {
      code: 'rollbackIncomplete',
      when: 'an old journal cannot be read and a backup is there',
      run: async () => {
        await mkdir(join(dir, '.update-agent', 'backup', 'x'), { recursive: true, mode: 0o700 });
        await chmod(join(dir, '.update-agent'), 0o700);
        await writeFile(join(dir, '.update-agent', 'backup', 'x', 'a'), 'old');
        await writeFile(join(dir, '.update-agent', 'journal.jsonl'), '{}\n');
        return runHere(base);
      },
      output: /the backup remains/,
    },
    {
      code: 'busy',
      when: 'another agent is at work',
      run: async () => {
        let end = (): void => undefined;
        const first = runAgent([...base, '--wait-for-pid', String(process.pid)], {
          started: (_pid, kill) => (end = () => kill('SIGKILL')),
        });
        const lock = join(dir, '.update-agent', 'lock', '1');
        while ((await readFile(lock, 'utf8').catch(() => '')) === '')
          await new Promise((resolve) => setTimeout(resolve, 20));
        const second = await runHere(base);
        end();
        await first;
        return second;
      },
      output: /another update agent/,
    },
    {
      code: 'waitTimedOut',
      when: 'the application does not end',
      run: () => runHere([...base, '--wait-for-pid', String(process.pid), '--wait-seconds', '0']),
      output: /did not exit within 0 s/,
    },
    {
      code: 'transient',
      when: 'the server is overloaded',
      run: () => {
        server.lies.request = (_request, response) => {
          response.writeHead(503).end();
          return true;
        };
        return runHere(base);
      },
      output: /answered 503/,
    },
    {
      code: 'spaceOrPermission',
      when: 'a parent is a link',
      run: async () => {
        await remove(join(dir, 'lib'));
        await symlink('/tmp', join(dir, 'lib'));
        return runHere(base);
      },
      output: /lib is a link/,
    },
    {
      code: 'runtimeMissing',
      when: 'installed, and a .NET runtime is missing',
      run: () => installWithRuntime('Microsoft.NETCore.App 6.0.36 [/x]\n'),
      output:
        /^WARNING: .*\nWARNING: the \.NET runtime Microsoft\.NETCore\.App 8\.0\.0 is missing \(roll forward: Minor; installed: 6\.0\.36\)\. Install it: .*\nUPDATED: none -> 2\.0\.0\n|Install it: /,
    },
    {
      code: 'done',
      when: 'installed, and its .NET runtime is here',
      run: () => installWithRuntime('Microsoft.NETCore.App 8.0.11 [/x]\n'),
      output: /UPDATED: none -> 2\.0\.0\n$/,
    },
    {
      code: 'usage',
      when: 'installing into a directory that holds something else',
      run: () =>
        runHere([
          '--action',
          'install',
          '--project',
          'other',
          '--license-key',
          'ABCDE-FGHIJ-KLMNO-PQRST-UVWXY',
          ...base,
        ]),
      output: /shop is installed in .*--adopt/,
    },
    {
      code: 'usage',
      when: 'configuring where nothing is installed',
      run: async () => {
        await remove(join(dir, 'manifest.json'));
        return runHere(['--action', 'configure', ...base]);
      },
      output: /no installation in/,
    },
    {
      code: 'cancelled',
      when: 'SIGTERM',
      run: () =>
        runAgent([...base, '--wait-for-pid', String(process.pid)], {
          started: (_pid, kill) => {
            const log = join(dir, '.update-agent', 'log', 'update-agent.log');
            const timer = setInterval(() => {
              if (!existsSync(log) || !readFileSync(log, 'utf8').includes('unpacking')) return;
              clearInterval(timer);
              setTimeout(() => kill('SIGTERM'), 500);
            }, 50);
          },
        }),
      output: /cancelled/,
    },
    { code: 'usage', when: 'an unknown option', run: () => runHere([...base, '--nonsense']), output: /--nonsense/ },
  ];

  for (const { code, when, run, output } of table)
    it(`${EXIT_CODES[code]} ${code}: ${when}`, async () => {
      const ran = await run();
      expect(ran.code, ran.stdout + ran.stderr).to.equal(EXIT_CODES[code]);
      expect(ran.stdout + ran.stderr).to.match(output);
    });

  it('match the contract', () => {
    expect(Object.values(EXIT_CODES)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 64]);
  });

  describe('exit code 64, before any change', () => {
    const bad: string[][] = [
      ['--action', 'upgrade'],
      ['--platform', 'solaris'],
      ['--project', 'Not A Slug'],
      ['--channel', '../x'],
      ['--current-version', 'x'],
      ['--pin', 'abc'],
      ['--wait-for-pid', '0'],
      ['--wait-for-pid', 'x'],
      ['--wait-seconds', '-1'],
      ['--server', 'ftp://x'],
      ['--server', 'https://user:pass@example.com'],
      ['--server', 'nonsense'],
      ['--license-key', 'a b'],
      ['--username', 'a:b'],
      ['--password=x'],
      ['stray'],
      ['--yes=maybe'],
      ['--set', 'novalue'],
      ['--set', 'v='],
      ['--set', '=x'],
      ['--dir', '/nonexistent/dir'],
      ['--config', '/nonexistent/agent.json'],
    ];
    for (const args of bad)
      it(args.join(' '), async () => {
        const ran = await runHere([...base, ...args]);
        expect(ran.code, ran.stdout + ran.stderr).to.equal(64);
      });

    it('explains that --set v= has no value (S-set)', async () => {
      expect((await runHere([...base, '--set', 'v='])).stderr).to.include('--set v= has no value; omit it');
    });

    it('is returned when another product is installed', async () => {
      expect((await runHere([...base, '--project', 'other'])).code).to.equal(64);
    });
    it('is returned without a server', async () => {
      expect((await runHere(['--dir', dir])).code).to.equal(64);
    });
  });

  describe('command-line options', () => {
    it('ignore build metadata of --current-version (S08)', async () => {
      for (const given of ['1.2.3+0a1b2c3', '1.2.3'])
        expect(await readOptions(['--dir', dir, '--current-version', given], {}, '/nowhere')).to.include({
          currentVersion: '1.2.3',
        });
    });

    it('are read from argv before the environment before the file', async () => {
      const own = join(dir, '.update-agent');
      await mkdir(own, { mode: 0o700 });
      const path = join(own, 'agent.json');
      const file = {
        server: 'https://file.example',
        channel: 'file',
        project: 'file',
        'require-signed': true,
        service: 'shop',
      };
      await writeFile(path, JSON.stringify(file), { mode: 0o600 });
      const env = { SVC_SERVER: 'https://env.example', SVC_CHANNEL: 'env' };
      const options = await readOptions(['--dir', dir, '--channel', 'argv'], env, '/nowhere');
      expect(options).to.include({
        channel: 'argv',
        project: 'file',
        requireSigned: true,
        service: 'shop',
        waitSeconds: 300,
        action: 'update',
      });
      expect(options.server?.href).to.equal('https://env.example/');
    });

    it('reject unknown names, passwords and one-time options in the file, and files with unsafe owners', async () => {
      const path = join(dir, 'agent.json');
      for (const values of [
        { passwort: 1 },
        { password: 'x' },
        { 'allow-unsigned': true },
        { server: 7.5, yes: 'perhaps' },
        [],
      ]) {
        await writeFile(path, JSON.stringify(values), { mode: 0o600 });
        expect((await runHere([...base, '--config', path])).code, JSON.stringify(values)).to.equal(64);
      }
      await writeFile(path, '{}');
      await chmod(path, 0o666);
      expect((await runHere([...base, '--config', path])).code).to.equal(64);
    });

    it('--dir defaults to the agent’s directory if it contains manifest.json, else to the current one', async () => {
      expect((await readOptions([], {}, dir)).dir).to.equal(dir);
      expect((await readOptions([], {}, join(dir, '.update-agent'))).dir).to.equal(dir);
      expect((await readOptions([], {}, join(dir, 'lib'))).dir).to.equal(process.cwd());
    });

    it('are all listed by --help', async () => {
      const { stdout, code } = await runHere(['--help']);
      expect(code).to.equal(0);
      for (const [name, spec] of Object.entries(OPTION_SPECS))
        if (!('fileOnly' in spec)) expect(stdout).to.include(`--${name}`);
    });

    it('cannot activate the test hooks', async () => {
      const env = { FAULT_AT: '1', FAULT_COUNT: join(dir, 'points') };
      expect((await runAgent(base, { env, program: MAIN })).code).to.equal(0);
      expect(existsSync(env.FAULT_COUNT)).to.equal(false);
    });
  });
});
