/**
 * The exact line for every kind of fault, and the order of the sources (contract 00,
 * configuration).
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import joi from 'joi';
import { ConfigError, loadConfig, findPackageRoot, type Configuration } from '../../config/load.js';
import { findUnknownVariables } from '../../config/sources.js';

describe('configuration', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-config-'));
    await mkdir(join(root, 'config'));
    await writeFile(
      join(root, 'config/default.json'),
      await readFile(join(findPackageRoot(), 'config/default.json'), 'utf8'),
    );
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const load = (env: NodeJS.ProcessEnv = {}): Promise<Configuration> => loadConfig({ root, env, cwd: root });
  const write = async (name: string, content: unknown): Promise<string> => {
    const path = join(root, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const fault = async (work: Promise<unknown> | (() => unknown)): Promise<string> => {
    try {
      await (typeof work === 'function' ? work() : work);
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as Error).message).to.not.match(/[\r\n]/);
      return (error as Error).message;
    }
    throw new Error('no fault');
  };

  it('has a default for every key', async () => {
    const { core } = await load();
    expect(core.server).to.deep.equal({ host: '127.0.0.1', port: 8080, base_url: null, trusted_proxies: [] });
    expect(core.data_dir).to.equal(join(root, 'data'));
    expect(core.storage).to.deep.equal({
      url: 'sqlite:aos.db',
      engine: 'sqlite',
      file: join(root, 'data', 'aos.db'),
      auto_migrate: true,
      durability: 'full',
      checkpoints: 'service',
    });
    expect(core.security).to.deep.equal({ shared_key: '', webhook_key: '', license_key: null, data_key: null });
    expect(core.limits.json_bytes).to.equal(1_048_576);
    expect(core.limits.package_bytes).to.equal(2_147_483_648);
    expect(core.release_private_key).to.equal(null);
  });

  it('reports variables that match a setting except for an underscore, and ignores those of companions', async () => {
    const { misspelt, core } = await load({
      SVC_SERVER_PORT: '1',
      SVC_LIMITS_JSON_BYTES: '1',
      SVC_SERVER: 'https://aos.example',
      SVC_TOKEN: 't',
      SVC_LOG_LEVEL: 'warn',
      SVC_SERVER__HOST: '0.0.0.0',
      SVC_PLUGINS: '["./on-call"]',
    });
    expect(misspelt).to.deep.equal([
      { name: 'SVC_SERVER_PORT', meant: 'SVC_SERVER__PORT' },
      { name: 'SVC_LIMITS_JSON_BYTES', meant: 'SVC_LIMITS__JSON_BYTES' },
    ]);
    expect([core.server.port, core.limits.json_bytes]).to.deep.equal([8080, 1_048_576]);
    expect(core.plugins).to.deep.equal(['./on-call']);
    expect(await fault(load({ SVC_PLUGINS: './on-call' }))).to.equal(
      'configuration: plugins must be an array (from environment variable SVC_PLUGINS)',
    );
  });

  it('reports variables that match no setting, and accepts those of the clients', async () => {
    const { unknown } = await load({
      SVC_PROT: '1',
      svc_port: '1',
      SVC_SERVER_PORT: '1',
      SVC_SET_DB_HOST: 'db',
      SVC_TOKEN_FILE: '/t',
      SVC_PORT: '1',
      SVC_LOG__LEVEL: 'warn',
    });
    expect(unknown).to.deep.equal(['SVC_PROT', 'svc_port']);
    const read = new Set<string>();
    const clients = join(findPackageRoot(), 'clients');
    for (const name of await readdir(clients, { recursive: true }))
      if (/\.(ts|sh|ps1)$/.test(name))
        for (const [variable] of (await readFile(join(clients, name), 'utf8')).matchAll(
          /\bSVC_[A-Z]+(_[A-Z]+)*\b(?!_)/g,
        ))
          read.add(variable);
    expect(read).to.include('SVC_PASSWORD_FILE');
    expect(findUnknownVariables(Object.fromEntries([...read].map((name) => [name, ''])))).to.deep.equal([]);
  });

  it('falls back to the schema defaults with an empty default.json', async () => {
    const whole = await load();
    await write('config/default.json', {});
    expect((await load()).core).to.deep.equal(whole.core);
  });

  it('merges local.json, the SVC_CONFIG file and the environment, in increasing priority', async () => {
    await write('config/local.json', { server: { port: 1, host: 'local' }, limits: { api_per_minute: 1 } });
    const named = await write('named.json', { server: { port: 2 }, limits: { bulk_per_minute: 2 } });
    const config = await load({ SVC_CONFIG: named, SVC_LIMITS__API_PER_MINUTE: '3', SVC_LIMITS__BULK_PER_MINUTE: '0' });
    expect(config.core.server.port).to.equal(2);
    expect(config.core.server.host).to.equal('local');
    expect(config.core.limits.api_per_minute).to.equal(3);
    expect(config.core.limits.bulk_per_minute).to.equal(0);
    expect(config.origin('server.host')).to.equal('config/local.json');
    expect(config.origin('server.port')).to.equal(named);
    expect(config.origin('limits.api_per_minute')).to.equal('environment variable SVC_LIMITS__API_PER_MINUTE');
    expect(config.origin('app.debug')).to.equal('config/default.json');
  });

  it('reads every named variable', async () => {
    const { core, sections } = await load({
      SVC_PORT: '0',
      SVC_HOST: '0.0.0.0',
      SVC_DATA_DIR: 'elsewhere',
      SVC_STORAGE_URL: 'sqlite:x/y.db',
      SVC_BASE_URL: 'https://aos.example/',
      SVC_SHARED_KEY: 's',
      SVC_WEBHOOK_KEY: 'w',
      SVC_LICENSE_KEY: 'l'.repeat(32),
      SVC_RELEASE_PRIVATE_KEY: 'key.pem',
      SVC_ADMIN_USER: 'root',
      SVC_ADMIN_PASSWORD: 'correct horse battery',
      SVC_LOG_LEVEL: 'debug',
    });
    expect(core.server).to.include({ port: 0, host: '0.0.0.0', base_url: 'https://aos.example' });
    expect(core.data_dir).to.equal(join(root, 'elsewhere'));
    expect(core.storage.file).to.equal(join(root, 'elsewhere/x/y.db'));
    expect(core.security).to.include({ shared_key: 's', webhook_key: 'w', license_key: 'l'.repeat(32) });
    expect(core.release_private_key).to.equal(join(root, 'key.pem'));
    expect(sections['auth']).to.include({ admin_user: 'root', admin_password: 'correct horse battery' });
    expect(core.log.level).to.equal('debug');
  });

  it('reads the value from the file in a …_FILE variable, without its last line break', async () => {
    const path = await write('secret', 'from a file\n');
    expect((await load({ SVC_SHARED_KEY_FILE: path })).core.security.shared_key).to.equal('from a file');
    expect((await load({ SVC_SECURITY__SHARED_KEY_FILE: path })).core.security.shared_key).to.equal('from a file');
    const missing = join(root, 'missing');
    expect(await fault(load({ SVC_SHARED_KEY_FILE: missing }))).to.equal(
      `configuration: SVC_SHARED_KEY_FILE refers to a file that cannot be read: ENOENT (from ${missing})`,
    );
    expect(await fault(load({ SVC_SHARED_KEY: 'a', SVC_SHARED_KEY_FILE: path }))).to.equal(
      'configuration: security.shared_key is set twice, by SVC_SHARED_KEY and SVC_SHARED_KEY_FILE (from the environment)',
    );
  });

  it('parses the text of a variable according to its schema', async () => {
    const { core } = await load({
      SVC_APP__DEBUG: 'true',
      SVC_SERVER__TRUSTED_PROXIES: '["10.0.0.0/8","::1"]',
      SVC_LIMITS__INTAKE_BURST: '5',
      SVC_STORAGE__AUTO_MIGRATE: 'false',
      SVC_STORAGE_URL: 'mongodb://db/aos',
      SVC_SECURITY__DATA_KEY: '12345678901234567890123456789012',
    });
    expect(core.app.debug).to.equal(true);
    expect(core.server.trusted_proxies).to.deep.equal(['10.0.0.0/8', '::1']);
    expect(core.limits.intake_burst).to.equal(5);
    expect(core.storage).to.include({ auto_migrate: false, engine: 'mongodb', file: null });
    expect(core.security.data_key).to.equal('12345678901234567890123456789012');
  });

  it('ignores SVC_ variables of the companions', async () => {
    await load({
      SVC_TOKEN: 'x',
      SVC_PASSWORD: 'y',
      SVC_TEST_MONGODB_URL: 'z',
      SVC_PORTS: '1',
      SVC_FILE: '',
      PORT: 'q',
    });
  });

  it('migrates MongoDB automatically only outside production, and the embedded store always', async () => {
    const auto = async (env: NodeJS.ProcessEnv): Promise<boolean> => (await load(env)).core.storage.auto_migrate;
    expect(await auto({ SVC_STORAGE_URL: 'mongodb://db/aos' })).to.equal(true);
    expect(await auto({ SVC_STORAGE_URL: 'mongodb://db/aos', NODE_ENV: 'production' })).to.equal(false);
    const requested = {
      SVC_STORAGE_URL: 'mongodb://db/aos',
      NODE_ENV: 'production',
      SVC_STORAGE__AUTO_MIGRATE: 'true',
    };
    expect(await auto(requested)).to.equal(true);
    expect(await auto({ NODE_ENV: 'production', SVC_STORAGE__AUTO_MIGRATE: 'false' })).to.equal(true);
  });

  it('deeply freezes the configuration', async () => {
    const { core } = await load();
    expect(() => {
      (core.limits as { json_bytes: number }).json_bytes = 1;
    }).to.throw(TypeError);
    expect(Object.isFrozen(core.server.trusted_proxies)).to.equal(true);
  });

  describe('errors', () => {
    const cases: [name: string, env: NodeJS.ProcessEnv, line: string][] = [
      [
        'text for a number',
        { SVC_PORT: 'eighty' },
        'server.port must be a number (from environment variable SVC_PORT)',
      ],
      ['an empty number', { SVC_PORT: '' }, 'server.port must be a number (from environment variable SVC_PORT)'],
      [
        'a number out of range',
        { SVC_PORT: '65536' },
        'server.port must be less than or equal to 65535 (from environment variable SVC_PORT)',
      ],
      [
        'a fraction',
        { SVC_LIMITS__API_PER_MINUTE: '1.5' },
        'limits.api_per_minute must be an integer (from environment variable SVC_LIMITS__API_PER_MINUTE)',
      ],
      [
        'a negative limit',
        { SVC_LIMITS__API_PER_MINUTE: '-1' },
        'limits.api_per_minute must be greater than or equal to 0 (from environment variable SVC_LIMITS__API_PER_MINUTE)',
      ],
      [
        'an unknown key of a known section',
        { SVC_SERVER__PROT: '1' },
        'server.prot is not a known key (from environment variable SVC_SERVER__PROT)',
      ],
      [
        'a value with a line break',
        { SVC_APP__DEBUG: 'yes\nno' },
        'app.debug must be a boolean (from environment variable SVC_APP__DEBUG)',
      ],
      [
        'an unknown time zone',
        { SVC_APP__TIMEZONE: 'Mars/Base' },
        'app.timezone must be an IANA time zone, for example Europe/Berlin (from environment variable SVC_APP__TIMEZONE)',
      ],
      [
        'a base URL of another scheme',
        { SVC_BASE_URL: 'ftp://x' },
        'server.base_url must be an http or https URL (from environment variable SVC_BASE_URL)',
      ],
      [
        'a base URL with a user',
        { SVC_BASE_URL: 'http://u:p@x' },
        'server.base_url must be a URL without user, query and fragment (from environment variable SVC_BASE_URL)',
      ],
      [
        'an empty base URL',
        { SVC_BASE_URL: '' },
        'server.base_url is not allowed to be empty (from environment variable SVC_BASE_URL)',
      ],
      [
        'another kind of store',
        { SVC_STORAGE_URL: 'mysql://x' },
        'storage.url must be sqlite:<path>, mongodb://…, mongodb+srv://… or memory: (from environment variable SVC_STORAGE_URL)',
      ],
      [
        'a short license key',
        { SVC_LICENSE_KEY: 'short' },
        'security.license_key must be a PEM private key, or at least 32 characters long (from environment variable SVC_LICENSE_KEY)',
      ],
      [
        'a broken PEM',
        { SVC_LICENSE_KEY: '-----BEGIN PRIVATE KEY-----\nx' },
        'security.license_key is not a readable PEM private key (from environment variable SVC_LICENSE_KEY)',
      ],
      [
        'an empty license key',
        { SVC_LICENSE_KEY: '' },
        'security.license_key is not allowed to be empty (from environment variable SVC_LICENSE_KEY)',
      ],
      [
        'an unknown log level',
        { SVC_LOG_LEVEL: 'loud' },
        'log.level must be one of [debug, info, warn, error, silent] (from environment variable SVC_LOG_LEVEL)',
      ],
      [
        'a list that is no JSON',
        { SVC_SERVER__TRUSTED_PROXIES: '10.0.0.1' },
        'server.trusted_proxies must be an array (from environment variable SVC_SERVER__TRUSTED_PROXIES)',
      ],
      [
        'a proxy that is no address',
        { SVC_SERVER__TRUSTED_PROXIES: '["proxy"]' },
        'server.trusted_proxies.0 must be a valid ip address with a optional CIDR (from environment variable SVC_SERVER__TRUSTED_PROXIES)',
      ],
      [
        'a section as a value',
        { SVC_SERVER__PORT__X: '1' },
        'server.port must be a number (from environment variable SVC_SERVER__PORT__X)',
      ],
      [
        'a name without a key',
        { SVC_SERVER__: '1' },
        'SVC_SERVER__ does not match a key (from environment variable SVC_SERVER__)',
      ],
      [
        'a key of the prototype',
        { SVC_SERVER____PROTO__: '1' },
        'SVC_SERVER____PROTO__ does not match a key (from environment variable SVC_SERVER____PROTO__)',
      ],
      [
        'the same key by two names',
        { SVC_PORT: '1', SVC_SERVER__PORT: '1' },
        'server.port is set twice, by SVC_PORT and SVC_SERVER__PORT (from the environment)',
      ],
    ];
    for (const [name, env, line] of cases) {
      it(`reports ${name} in one line`, async () => {
        expect(await fault(load(env))).to.equal(`configuration: ${line}`);
      });
    }

    it('an unknown key, a wrong type, and a number as text in a file', async () => {
      await write('config/local.json', { server: { prot: 1 } });
      expect(await fault(load())).to.equal('configuration: server.prot is not a known key (from config/local.json)');
      await write('config/local.json', { limits: 5 });
      expect(await fault(load())).to.equal('configuration: limits must be of type object (from config/local.json)');
      await write('config/local.json', { server: { port: '8080' } });
      expect(await fault(load())).to.equal('configuration: server.port must be a number (from config/local.json)');
      await write('config/local.json', '{"__proto__": {"x": 1}}');
      expect(await fault(load())).to.equal('configuration: __proto__ is not a known key (from config/local.json)');
    });

    it('a license key other than an RSA or Ed25519 key', async () => {
      const pem = (key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }): string =>
        String(key.export({ type: 'pkcs8', format: 'pem' }));
      const ed = pem(generateKeyPairSync('ed25519').privateKey);
      expect((await load({ SVC_LICENSE_KEY: ed })).core.security.license_key).to.equal(ed);
      expect(await fault(load({ SVC_LICENSE_KEY: pem(generateKeyPairSync('x25519').privateKey) }))).to.equal(
        'configuration: security.license_key must be an Ed25519 or RSA private key (from environment variable SVC_LICENSE_KEY)',
      );
    });

    it('a password in a file', async () => {
      const path = await write('config/local.json', { auth: { admin_password: 'x' } });
      expect(await fault(load())).to.equal(
        `configuration: auth.admin_password can only be set in the environment: set SVC_ADMIN_PASSWORD (from ${path})`,
      );
    });

    it('files that are missing, empty, malformed, or not an object, without quoting the text', async () => {
      const missing = join(root, 'none.json');
      expect(await fault(load({ SVC_CONFIG: missing }))).to.equal(
        `configuration: SVC_CONFIG cannot be read: ENOENT (from ${missing})`,
      );
      expect(await fault(load({ SVC_CONFIG: '' }))).to.equal(
        'configuration: SVC_CONFIG cannot be read: ENOENT (from an empty path)',
      );
      const broken = await write('broken.json', '{"security": {"shared_key": "hunter2" "x"}}');
      expect(await fault(load({ SVC_CONFIG: broken })))
        .to.match(/^configuration: SVC_CONFIG is not valid JSON/)
        .and.not.contain('hunter2');
      const list = await write('list.json', '[]');
      expect(await fault(load({ SVC_CONFIG: list }))).to.equal(
        `configuration: SVC_CONFIG must contain one JSON object (from ${list})`,
      );
    });
  });

  describe('plugin sections', () => {
    const schema = joi.object({
      egress_policy: joi.string().valid('private-ok', 'public-only').default('private-ok'),
      allow_cidrs: joi.array().items(joi.string()).default([]),
      retry: joi.object({ times: joi.number().integer().default(3), fast: joi.boolean().default(false) }),
      headers: joi.object().pattern(joi.string(), joi.string()).default({}),
    });

    it('are validated with the plugin’s schema, with defaults at every depth', async () => {
      const config = await load({
        SVC_HOOKS__EGRESS_POLICY: 'public-only',
        SVC_HOOKS__ALLOW_CIDRS: '["10.0.0.0/8"]',
        SVC_HOOKS__RETRY__TIMES: '7',
      });
      const section = config.validateSection('hooks', schema);
      expect(section).to.deep.equal({
        egress_policy: 'public-only',
        allow_cidrs: ['10.0.0.0/8'],
        retry: { times: 7, fast: false },
        headers: {},
      });
      expect(Object.isFrozen((section as { retry: object }).retry)).to.equal(true);
      expect((config.sections['hooks'] as { allow_cidrs: unknown }).allow_cidrs).to.deep.equal(['10.0.0.0/8']);
      config.rejectUnknownSections([...Object.keys(config.sections), 'chat']);
    });

    it('report errors in one line', async () => {
      await write('config/local.json', { hooks: { allow_cidrs: 'all' } });
      const config = await load({ SVC_CHAT__STRICT: '1' });
      expect(await fault(() => config.validateSection('hooks', schema))).to.equal(
        'configuration: hooks.allow_cidrs must be an array (from config/local.json)',
      );
      expect(await fault(() => config.validateSection('chat', joi.object({})))).to.equal(
        'configuration: chat.strict is not a known key (from environment variable SVC_CHAT__STRICT)',
      );
      expect(
        await fault(() => config.rejectUnknownSections(Object.keys(config.sections).filter((id) => id !== 'chat'))),
      ).to.equal('configuration: chat is not a known key (from environment variable SVC_CHAT__STRICT)');
    });

    it('rejects values that are not objects', async () => {
      await write('config/local.json', { hooks: true });
      const config = await load();
      expect(await fault(() => config.validateSection('hooks', schema))).to.equal(
        'configuration: hooks must be an object (from config/local.json)',
      );
    });
  });

  it('returns a configuration or a one-line error for any text in any variable', async () => {
    const names = [
      'SVC_PORT',
      'SVC_HOST',
      'SVC_APP__TIMEZONE',
      'SVC_X__Y',
      'SVC_SERVER__TRUSTED_PROXIES',
      'SVC_LICENSE_KEY',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.string({ unit: 'binary' }), async (name, text) => {
        try {
          await load({ [name]: text });
        } catch (error) {
          expect(error).to.be.instanceOf(ConfigError);
          expect(/[\p{Cc}\u2028\u2029]/u.test((error as Error).message)).to.equal(false);
        }
      }),
      { numRuns: 60 },
    );
  });
});
