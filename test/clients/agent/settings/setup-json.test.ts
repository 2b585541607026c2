/**
 * setup.json itself (contract 90, setup.json): what is wrong names its field; the order of the
 * sources; locations and variables.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDescription } from '../../../../clients/agent/settings/description.js';
import { createDetector, substituteVariables } from '../../../../clients/agent/settings/detect.js';
import type { SettingValue } from '../../../../clients/agent/settings/formats/format.js';
import { resolveBase, resolveTargetPath } from '../../../../clients/agent/settings/locations.js';
import { getValueFault, resolveSettings, type ValueSources } from '../../../../clients/agent/settings/resolve.js';
import { isPlaceholder, parseValue, type ValueType } from '../../../../clients/agent/settings/types.js';
import { createKeys, ReleaseServer } from '../../../support/release-server.js';
import { install, remove, runHere, scratch } from '../agent.js';

const target = { file: 'a.json', format: 'json', key: 'a' };
const one = (members: object): object => ({ schema: 1, values: [{ name: 'a', targets: [target], ...members }] });
const read = (setup: object): ReturnType<typeof parseDescription> => parseDescription(setup as Record<string, unknown>);

describe('update-agent: setup.json', function () {
  describe('names the invalid member', () => {
    const wrong: [setup: object, says: RegExp][] = [
      [{ schema: 2, values: [] }, /schema is not 1/],
      [{ schema: 1 }, /values is not a list/],
      [{ schema: 1, values: [1] }, /values\[0\] is not an object/],
      [one({ name: '1x' }), /values\[0\]\.name must be/],
      [{ schema: 1, values: [{ name: 'a.b' }, { name: 'a-b' }] }, /values\[1\]\.name a-b appears twice/],
      [one({ type: 'float' }), /values\[0\]\.type is not one of string, integer/],
      [one({ required: 'yes' }), /values\[0\]\.required is neither/],
      [one({ detect: 'exec:id' }), /values\[0\]\.detect exec:id cannot be detected/],
      [one({ detect: '<hostname>' }), /values\[0\]\.detect/],
      [one({ detect: 'free_port:0' }), /values\[0\]\.detect/],
      [one({ provision: 'root' }), /values\[0\]\.provision is not one of token, watchdog_source/],
      [one({ pattern: '(?=a)' }), /values\[0\]\.pattern is not a valid RE2 regular expression/],
      [one({ min: '1' }), /values\[0\]\.min is not a number/],
      [one({ type: 'choice' }), /values\[0\]\.choices are missing/],
      [one({ type: 'choice', choices: [] }), /values\[0\]\.choices is not a list/],
      [one({ type: 'port', choices: [80, 'x'] }), /values\[0\]\.choices\[1\] is not a value of type port/],
      [one({ type: 'port', default: 0 }), /values\[0\]\.default is not a value of type port/],
      [one({ choices: ['a'], default: 'b' }), /values\[0\]\.default is not one of the choices/],
      [one({ when: { name: 'b', equals: 1 } }), /values\[0\]\.when\.name is not an earlier setting/],
      [one({ targets: {} }), /values\[0\]\.targets is not a list/],
      [one({ targets: [{ ...target, file: 'a.txt', format: undefined }] }), /targets\[0\]\.format is missing/],
      [one({ targets: [{ ...target, format: 'yaml' }] }), /targets\[0\]\.format is not one of json, env, ini, xml/],
      [
        one({ targets: [{ ...target, location: 'etc' }] }),
        /targets\[0\]\.location is not one of install, config, data, home/,
      ],
      [one({ targets: [{ ...target, key: '' }] }), /targets\[0\]\.key is not a string/],
      [one({ targets: [{ ...target, key: 'a::b' }] }), /targets\[0\]\.key must be non-empty names/],
      [one({ targets: [{ ...target, format: 'env', key: 'a b' }] }), /targets\[0\]\.key must be a name/],
      [one({ targets: [{ ...target, format: 'xml', key: 'a/<b>' }] }), /targets\[0\]\.key must be a path/],
    ];
    for (const [setup, says] of wrong)
      it(String(says), () => {
        expect(() => read(setup)).to.throw(says);
      });

    it('ignores unknown members', () => {
      expect(read(one({ colour: 'red' })).settings[0]).to.include({
        name: 'a',
        type: 'string',
        required: false,
        ask: true,
      });
    });
  });

  it('parses values by their type', () => {
    const table: [type: ValueType, text: string, value: SettingValue | null][] = [
      ['integer', '-5', -5],
      ['integer', '5.0', null],
      ['integer', '99999999999999999', null],
      ['port', '65535', 65_535],
      ['port', '65536', null],
      ['boolean', 'Yes', true],
      ['boolean', '0', false],
      ['boolean', 'perhaps', null],
      ['url', 'amqp://u:p@host/x', 'amqp://u:p@host/x'],
      ['url', 'host', null],
      ['url', 'javascript:alert(1)', null],
      ['path', ' /x y ', '/x y'],
      ['string', ' a ', ' a '],
      ['secret', '', null],
    ];
    for (const [type, text, value] of table) {
      const found = parseValue(type, text);
      expect('value' in found ? found.value : null, `${type} ${text}`).to.equal(value);
    }
  });

  it('treats placeholder values as not set', () => {
    for (const text of ['changeme', 'ChangeMe', 'change-me', 'TODO', 'your-key-here', '<API_KEY>', ' <x> ', ''])
      expect(isPlaceholder(text), text).to.equal(true);
    for (const value of ['change', 'todos', 'yours', '<a', 0, false, 'x<y>'])
      expect(isPlaceholder(value), String(value)).to.equal(false);
  });

  describe('precedence of sources', () => {
    const around = { env: { IN_ENV: 'detected' }, root: '/opt/x' };
    const found = async (
      setup: object,
      sources: Partial<ValueSources>,
    ): Promise<[source: string, value: SettingValue] | null> => {
      const [first] = await resolveSettings(read(setup), {
        around,
        given: new Map(),
        read: async () => null,
        provision: async () => null,
        ask: undefined,
        leave: async () => undefined,
        warn: () => undefined,
        ...sources,
      });
      return first === undefined ? null : [first.source, first.value];
    };
    const all = { detect: 'env:IN_ENV', provision: 'project', default: 'default' };
    const sources: Partial<ValueSources> = {
      read: async () => 'lies there',
      provision: async () => 'provided',
      ask: async () => 'answered',
    };

    it('prefers given over stored, detected, provided, entered and default values, in this order', async () => {
      expect(await found(one(all), { ...sources, given: new Map([['a', 'given']]) })).to.deep.equal(['given', 'given']);
      expect(await found(one(all), sources)).to.deep.equal(['set', 'lies there']);
      expect(await found(one(all), { ...sources, read: async () => 'changeme' })).to.deep.equal([
        'detected',
        'detected',
      ]);
      const none = { ...sources, read: async () => null };
      expect(await found(one({ ...all, detect: 'env:NOT_THERE' }), none)).to.deep.equal(['provisioned', 'provided']);
      expect(await found(one({ default: 'default' }), none)).to.deep.equal(['asked', 'answered']);
      expect(await found(one({ default: 'default', ask: false }), none)).to.deep.equal(['default', 'default']);
      expect(await found(one({ default: 'default' }), {})).to.deep.equal(['default', 'default']);
      expect(await found(one({}), {})).to.equal(null);
    });

    it('ignores a detected value that is not valid', async () => {
      expect(
        await found(one({ ...all, provision: undefined, type: 'string', max: 3, default: 'x' }), {}),
      ).to.deep.equal(['default', 'x']);
    });

    it('does not prompt for a setting whose condition is false', async () => {
      const setup = {
        schema: 1,
        values: [
          { name: 'on', type: 'boolean', default: false },
          { name: 'more', required: true, when: { name: 'on', equals: true } },
        ],
      };
      expect(await found(setup, {})).to.deep.equal(['default', false]);
      let failed = '';
      await found(setup, { given: new Map([['on', 'yes']]) }).catch((error: Error) => (failed = error.message));
      expect(failed).to.equal('settings are missing: more (--set more=… or SVC_SET_MORE)');
    });
  });

  it('validates by pattern (in linear time), bounds and the target’s format', () => {
    const why = (members: object, text: string): string | null => {
      const [setting] = read(one(members)).settings;
      return setting === undefined ? '' : getValueFault(setting, text);
    };
    expect(why({ pattern: '^[a-z]+$' }, 'abc')).to.equal(null);
    expect(why({ pattern: '^[a-z]+$' }, 'abc1')).to.include('must match');
    expect(why({ pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).to.include('must match');
    expect(why({ type: 'integer', min: 3, max: 5 }, '2')).to.equal('must be at least 3');
    expect(why({ min: 3, max: 5 }, '123456')).to.equal('must be at most 5 characters');
    for (const format of ['env', 'ini'])
      for (const text of ['a\nb', 'a\rb', 'a\0b'])
        expect(
          why({ targets: [{ ...target, format, key: 's:k'.slice(format === 'env' ? 2 : 0) }] }, text),
        ).to.not.equal(null);
    expect(why({ targets: [{ ...target, format: 'xml', key: 'a/b' }] }, 'a\u0001')).to.include('XML');
    expect(why({}, 'a\nb')).to.equal(null);
  });

  it('detects values from existing files and from the system', async () => {
    const root = await scratch();
    await writeFile(join(root, 'old.json'), '{"db":{"host":"h"}}');
    await writeFile(join(root, 'old.ini'), '[db]\nhost = i\n');
    await writeFile(join(root, '.env'), 'HOST=e\n');
    await mkdir(join(root, '.update-agent'));
    await writeFile(join(root, '.update-agent', 'agent.json'), '{"license-key":"x"}');
    const busy = createServer();
    await new Promise<void>((listening) => busy.listen(0, listening));
    const { port } = busy.address() as AddressInfo;
    const env = { A: 'x', SVC_TOKEN: 'secret', HOME: '/home/me', USER: 'me', SUB: 'old' };
    const detect = async (text: string): Promise<SettingValue | null | undefined> =>
      createDetector(text)?.({ env, root });
    expect(await detect('env:A')).to.equal('x');
    expect(await detect('env:SVC_TOKEN')).to.equal(null);
    expect(await detect('env:svc_token')).to.equal(null);
    expect(await detect('hostname')).to.equal(hostname());
    expect(await detect('install_dir')).to.equal(root);
    expect(await detect('home')).to.equal('/home/me');
    expect(await detect('user')).to.equal('me');
    expect(await detect('timezone')).to.be.a('string');
    expect(await detect('locale')).to.be.a('string');
    expect(await detect('arch')).to.equal(process.arch);
    expect(await detect(`free_port:${port}`))
      .to.be.a('number')
      .and.to.be.greaterThan(port);
    expect(await detect('file:${SUB}.json#db:host')).to.equal('h');
    expect(await detect('file:old.ini#db:host')).to.equal('i');
    expect(await detect('file:.env#HOST')).to.equal('e');
    expect(await detect('file:none.json#a')).to.equal(null);
    expect(await detect('file:.update-agent/agent.json#license-key')).to.equal(null);
    expect(await detect('exists:old.json')).to.equal(join(root, 'old.json'));
    expect(await detect('exists:none')).to.equal(null);
    expect(createDetector('command:id')).to.equal(null);
    busy.close();
    await remove(root);
  });

  it('expands variables in paths, leaves undefined variables, and rejects paths outside the installation', () => {
    const env = { NAME: 'n', UP: '..', ROOT: '/etc', SVC_PASSWORD: 'p' };
    expect(substituteVariables('${NAME}/%NAME%/${NONE}/%NONE%/${SVC_PASSWORD}', env)).to.equal(
      'n/n/${NONE}/%NONE%/${SVC_PASSWORD}',
    );
    const path = (file: string, location = 'install' as const): string =>
      resolveTargetPath({ file, location, format: 'json', key: 'a' }, env);
    expect(path('conf/${NAME}.json')).to.equal('conf/n.json');
    expect(path('conf\\a.json')).to.equal('conf/a.json');
    for (const file of [
      '/etc/x',
      '${ROOT}/x',
      '../x',
      'a/../../x',
      '${UP}/x',
      'a\\..\\x',
      'C:\\x',
      'c:x',
      '\\\\host\\x',
      '.update-agent/state.json',
      'manifest.json',
    ])
      expect(() => path(file), file).to.throw(/setup\.json: the file/);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('..', '/', '\\', 'a', '.', 'C:', '${UP}', '${ROOT}', '%UP%'), { maxLength: 8 }),
        (parts) => {
          let found: string;
          try {
            found = path(parts.join(''));
          } catch {
            return;
          }
          expect(join('/root/dir', found).startsWith('/root/dir/')).to.equal(true);
        },
      ),
    );
  });

  it('resolves file locations', async () => {
    const at = (location: 'config' | 'data' | 'home' | 'install', env: Record<string, string>): Promise<string> =>
      resolveBase(location, { env: { HOME: '/home/me', ...env }, root: '/opt/shop', project: 'shop' });
    expect(await at('install', {})).to.equal('/opt/shop');
    const root = process.geteuid?.() === 0;
    const home = await at('home', {}).catch((error: Error) => error.message);
    expect(home).to.match(root ? /location home is not allowed as root/ : /^\/home\/me$/);
    expect(await at('config', {})).to.equal(root ? '/etc/shop' : '/home/me/.config/shop');
    expect(await at('data', { XDG_DATA_HOME: '/data' })).to.equal(root ? '/var/lib/shop' : '/data/shop');
    expect(await at('data', { XDG_DATA_HOME: 'not/absolute' })).to.equal(
      root ? '/var/lib/shop' : '/home/me/.local/share/shop',
    );
  });

  it('accepts the example of docs/setup-json.md', async () => {
    const guide = await readFile(fileURLToPath(new URL('../../../../../docs/setup-json.md', import.meta.url)), 'utf8');
    const blocks = [...guide.matchAll(/```jsonc?\n(.*?)```/gs)].map(([, text = '']) => text);
    const [setup = '', before = '', after = ''] = blocks;
    const server = new ReleaseServer(createKeys());
    const dir = await scratch();
    const files = [{ path: 'config/app.json', content: before }];
    await install(
      dir,
      server.publish({ version: '1.0.0', files, setup: JSON.parse(setup) as Record<string, unknown> }),
    );
    const env = {
      HOME: dir,
      XDG_CONFIG_HOME: join(dir, 'xdg'),
      SVC_SET_DATABASE_PASSWORD: 's3cret',
      SHOP_GREETING: 'Hello',
    };
    const ran = await runHere(
      ['--action', 'configure', '--dir', dir, '--set', 'mode=cluster', '--set', 'peers=10.0.0.2'],
      env,
    );
    expect(ran.code, ran.stderr).to.equal(0);
    expect(await readFile(join(dir, 'config/app.json'), 'utf8')).to.equal(after);
    await remove(dir);
  });
});
