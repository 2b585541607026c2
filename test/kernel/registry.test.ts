import { expect } from 'chai';
import Joi from 'joi';
import { formatFault, PluginFaults } from '../../kernel/faults.js';
import { BUILT_IN } from '../../kernel/manifest.js';
import { registerPlugins, type RegisteredPlugin, type RegisteredPlugins } from '../../kernel/plugin-registry.js';

const plugin = (id: string, more: object = {}): object => ({
  id,
  version: '1.0.0',
  api: 1,
  title: id,
  setup: () => ({}),
  ...more,
});
const settings = (sections: Record<string, unknown> = {}) => ({
  sections,
  origin: (key: string) => `local.json (${key})`,
  reserved: ['server'],
});
const loaded = (plugins: readonly unknown[]) =>
  plugins.map((plugin, i) => ({ plugin, entry: `entry ${i}`, module: null, views: null }));
const registered = (plugins: unknown[], sections?: Record<string, unknown>): RegisteredPlugin[] =>
  registerPlugins(loaded(plugins), settings(sections)).plugins;

/**
 * Lines of the faults that stop the start, else of those of the plugins that it goes on without.
 */
function faultsOf(plugins: unknown[], sections?: Record<string, unknown>): string[] {
  try {
    return registerPlugins(loaded(plugins), settings(sections)).broken.flatMap(({ faults }) => faults.map(formatFault));
  } catch (error) {
    expect(error).to.be.instanceOf(PluginFaults);
    return (error as PluginFaults).message.split('\n');
  }
}

describe('kernel/plugin-registry', () => {
  it('orders plugins by their dependencies and their `after` lists', () => {
    const order = registered([
      plugin('web', { after: ['unknown', 'bugs'] }),
      plugin('bugs', { needs: ['access.api', 'kernel.system'] }),
      plugin('access', { provides: ['access.api'] }),
    ]);
    expect(order.map(({ manifest }) => manifest.id)).to.deep.equal(['access', 'bugs', 'web']);
  });

  it('sorts migrations by number, and allows gaps', () => {
    const run = async (): Promise<void> => undefined;
    const [only] = registered([
      plugin('bugs', {
        migrations: [
          { number: 7, name: 'b', run },
          { number: 2, name: 'a', run },
        ],
      }),
    ]);
    expect(only?.manifest.migrations.map(({ number }) => number)).to.deep.equal([2, 7]);
  });

  it('rejects two providers of a token, including tokens of the kernel', () => {
    const fix = 'remove one of the two plugins';
    expect(
      faultsOf([plugin('one', { provides: ['x.api'] }), plugin('two', { provides: ['x.api', 'kernel.system'] })]),
    ).to.deep.equal([
      `plugin two: provides the token "x.api", which plugin one provides too; ${fix}`,
      `plugin two: provides the token "kernel.system", which plugin kernel provides too; ${fix}`,
    ]);
  });

  it('rejects a declared port that does not exist or cannot be declared', () => {
    expect(faultsOf([plugin('one', { ports: ['reach', 'signer' as never] })])).to.deep.equal([
      'plugin one: ports[1] must be one of [reach, releaseStore, installers, manual, signers, backups, sourceMaps, yaml]; fix its manifest (entry 0)',
    ]);
  });

  it('rejects ids that are reserved for the service', () => {
    for (const id of ['kernel', 'jobs', 'server']) {
      expect(faultsOf([plugin(id)])).to.deep.equal([
        `plugin ${id}: the id "${id}" is reserved by the service; give it another id (entry 0)`,
      ]);
    }
  });

  it('identifies a plugin without id by its entry', () => {
    expect(faultsOf([plugin('x', { id: undefined }), null, 'text'])).to.deep.equal([
      'plugin entry 0: id is missing; fix its manifest (entry 0)',
      'plugin entry 1: is not a plugin: it does not export an object; export the plugin as `default` or as `plugin`',
      'plugin entry 2: is not a plugin: it does not export an object; export the plugin as `default` or as `plugin`',
    ]);
  });

  it('fails a plugin whose provider is invalid, with the reason', () => {
    const wrong = 'version must be a semantic version such as "1.2.0"; fix its manifest (entry 1)';
    expect(
      faultsOf([plugin('user', { needs: ['base.api'] }), plugin('base', { provides: ['base.api'], version: '1' })]),
    ).to.deep.equal([
      `plugin base: ${wrong}`,
      `plugin user: needs "base.api" of plugin base, which failed: ${wrong}; fix base first`,
    ]);
  });

  describe('an error', () => {
    const wrong = { version: '1' };
    const names = (plugins: readonly unknown[]): string[] => {
      const { plugins: running, broken } = registerPlugins(loaded(plugins), settings());
      return [
        ...running.map(({ manifest }) => manifest.id),
        ...broken.map(({ state }) => `${state.id} ${state.state}`),
      ];
    };

    it('in an external plugin does not affect other plugins', () => {
      expect(names([plugin('bad', wrong), plugin('good')])).to.deep.equal(['good', 'bad failed']);
    });

    it('in a second plugin with the same id is reported by its entry', () => {
      expect(names([plugin('one'), plugin('one')])).to.deep.equal(['one', 'entry 1 failed']);
    });

    it('in a critical plugin aborts the start', () => {
      expect(() => names([plugin('bad', { ...wrong, critical: true }), plugin('good')])).to.throw(
        PluginFaults,
        'plugin bad: version must be',
      );
    });

    it('in a built-in plugin aborts the start', () => {
      const own = { plugin: plugin('bad', wrong), entry: BUILT_IN, module: null, views: null };
      expect(() => registerPlugins([own], settings())).to.throw(PluginFaults, 'plugin bad: version must be');
    });
  });

  it('orders a plugin that uses a token or extends a point after the owner', () => {
    const order = registered([
      plugin('rules', { uses: ['tracker.api', 'gone.api'], extends: ['tracker.filters'] }),
      plugin('tracker', { provides: ['tracker.api'], extensionPoints: ['tracker.filters'] }),
    ]);
    expect(order.map(({ manifest }) => manifest.id)).to.deep.equal(['tracker', 'rules']);
  });

  it('rejects cycles of every kind of dependency, in full', () => {
    const fix = 'remove one of these dependencies; an event or an extension point breaks a cycle';
    expect(
      faultsOf([
        plugin('one', { provides: ['one.api'], uses: ['two.api'] }),
        plugin('two', { provides: ['two.api'], needs: ['one.api'] }),
      ]),
    ).to.deep.equal([
      `plugin one: is part of a dependency cycle: one → two → one (one uses "two.api" of two, two needs "one.api" of one); ${fix}`,
      `plugin two: needs "one.api" of plugin one, which failed: is part of a dependency cycle: one → two → one (one uses "two.api" of two, two needs "one.api" of one); ${fix}; fix one first`,
    ]);
    expect(
      faultsOf([
        plugin('page', { extensionPoints: ['page.actions'], needs: ['rules.api'] }),
        plugin('rules', { provides: ['rules.api'], extends: ['page.actions'] }),
      ]),
    ).to.deep.equal([
      `plugin page: is part of a dependency cycle: page → rules → page (page needs "rules.api" of rules, rules extends "page.actions" of page); ${fix}`,
    ]);
  });

  it('rejects an extension point with two owners, and reports an extension point without an owner', () => {
    expect(
      faultsOf([plugin('one', { extensionPoints: ['x.actions'] }), plugin('two', { extensionPoints: ['x.actions'] })]),
    ).to.deep.equal([
      'plugin two: offers the extension point "x.actions", which plugin one offers too; give the extension point another name in one of them',
    ]);
    const { unoffered } = registerPlugins(loaded([plugin('one', { extends: ['x.filters'] })]), settings());
    expect(unoffered).to.deep.equal([{ plugin: 'one', point: 'x.filters' }]);
  });

  it('rejects an error code with two owners, including the service’s own', () => {
    const errors = { shift_overlap: [409, 'Another shift.'], conflict: [409, 'Mine.'] };
    expect(
      faultsOf([plugin('one', { errors }), plugin('two', { errors: { shift_overlap: [409, '?'] } })]),
    ).to.deep.equal([
      'plugin one: declares the error code "conflict", which plugin kernel declares too; give the error code another name in one of them',
      'plugin two: declares the error code "shift_overlap", which plugin one declares too; give the error code another name in one of them',
    ]);
    expect(faultsOf([plugin('one', { errors: { shift_overlap: [200, 'Fine.'] } })])).to.deep.equal([
      'plugin one: errors.shift_overlap[0] must be greater than or equal to 400; fix its manifest (entry 0)',
    ]);
  });

  describe('disabled plugins', () => {
    const all = [
      plugin('access', { critical: true, provides: ['access.api'] }),
      plugin('bugs', { critical: true, needs: ['access.api'], extensionPoints: ['bugs.filters'] }),
      plugin('stream', { provides: ['stream.api'], extends: ['bugs.filters'] }),
      plugin('sentry', { needs: ['stream.api'], provides: ['sentry.api'] }),
      plugin('sdk', { needs: ['sentry.api'] }),
    ];
    const checked = (
      off: string[],
      plugins: object[] = all,
      sections: Record<string, unknown> = {},
    ): RegisteredPlugins => registerPlugins(loaded(plugins), { ...settings(sections), off });
    const refusal = (off: string[], plugins?: object[]): string => {
      try {
        checked(off, plugins);
      } catch (error) {
        expect(error).to.be.instanceOf(PluginFaults);
        expect((error as PluginFaults).configuration).to.equal(true);
        return (error as PluginFaults).message;
      }
      return 'none';
    };

    it('disables the named plugins and plugins that depend on them, with the reason', () => {
      const { plugins, off } = checked(['stream'], all, { stream: { kept: true } });
      expect(plugins.map(({ manifest }) => manifest.id)).to.deep.equal(['access', 'bugs']);
      expect(off.map(({ id, state, reason }) => `${id} ${state}: ${reason}`)).to.deep.equal([
        'stream off: disabled by `plugins_off`',
        'sentry off: needs "stream.api" of plugin stream, which is disabled',
        'sdk off: needs "sentry.api" of plugin sentry, which is disabled',
      ]);
    });

    it('does not disable plugins that extend a disabled plugin', () => {
      const shown = plugin('shown', { extensionPoints: ['shown.actions'] });
      const acts = plugin('acts', { extends: ['shown.actions'] });
      expect(checked(['shown'], [shown, acts]).plugins.map(({ manifest }) => manifest.id)).to.deep.equal(['acts']);
    });

    it('allows another provider in place of a disabled plugin', () => {
      const other = plugin('other', { provides: ['stream.api'] });
      const { plugins } = checked(['stream'], [...all, other]);
      expect(plugins.map(({ manifest }) => manifest.id)).to.include.members(['other', 'sentry', 'sdk']);
    });

    it('rejects critical plugins, their dependencies and unknown ids, by name', () => {
      const fix = 'fix it in local.json (plugins_off)';
      expect(refusal(['access', 'strem'])).to.equal(
        `configuration: plugins_off contains "access", but the service cannot run without it; ${fix}\n` +
          `configuration: plugins_off contains "strem", but this plugin does not exist; available plugins: access, bugs, stream, sentry, sdk; ${fix}`,
      );
      const heart = plugin('heart', { critical: true, needs: ['stream.api'] });
      expect(refusal(['stream'], [...all, heart])).to.equal(
        `configuration: plugins_off disables stream, but heart cannot run without its "stream.api"; ${fix}`,
      );
    });
  });

  it('accepts plugins that are instances of classes', () => {
    class Chat {
      id = 'chat';
      version = '1.0.0-rc.1+build.5';
      api = 1;
      title = 'Chat';
      setup(): object {
        return {};
      }
    }
    expect(registered([new Chat()]).map(({ manifest }) => manifest.id)).to.deep.equal(['chat']);
  });

  it('validates values without conversion: "1" is not an API number', () => {
    expect(faultsOf([plugin('chat', { api: '1' })])).to.deep.equal([
      'plugin chat: api must be a number; fix its manifest (entry 0)',
    ]);
  });

  describe('configuration', () => {
    const chat = plugin('chat', {
      config: Joi.object({
        url: Joi.string().uri().required(),
        secret: Joi.string().pattern(/^[a-z]+$/),
        retries: Joi.number().integer().default(3),
      }),
    });

    it('fills in defaults and converts texts', () => {
      expect(registered([chat], { chat: { url: 'http://example.test', retries: '5' } })[0]?.config).to.deep.equal({
        url: 'http://example.test',
        retries: 5,
      });
      expect(
        registered([plugin('plain', { config: Joi.object({ n: Joi.number().default(1) }) })])[0]?.config,
      ).to.deep.equal({ n: 1 });
    });

    it('reports key, error and source, and never the value', () => {
      const faults = faultsOf([chat], { chat: { secret: 'Hunter2', colour: 'green' } });
      expect(faults).to.deep.equal([
        'configuration: chat.url is required; fix it in local.json (chat.url)',
        'configuration: chat.secret must match /^[a-z]+$/; fix it in local.json (chat.secret)',
        'configuration: chat.colour is unknown; fix it in local.json (chat.colour)',
      ]);
    });

    it('rejects a section of an unknown plugin, and settings of a plugin that has none', () => {
      expect(
        faultsOf([chat, plugin('quiet')], { chat: { url: 'http://a' }, chatt: {}, quiet: { loud: true } }),
      ).to.deep.equal([
        'configuration: quiet.loud is unknown: plugin quiet has no settings; fix it in local.json (quiet.loud)',
        'configuration: chatt is unknown: it is not a setting of the service, and no installed plugin has this section; fix it in local.json (chatt)',
      ]);
      expect(faultsOf([chat], { chat: 'on' })).to.deep.equal([
        'configuration: chat must be an object; fix it in local.json (chat)',
      ]);
    });
  });
});
