import { expect } from 'chai';
import Joi from 'joi';
import { PluginFaults } from '../../kernel/faults.js';
import { register, type Registered } from '../../kernel/registry.js';

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
const registered = (plugins: unknown[], sections?: Record<string, unknown>): Registered[] =>
  register(
    plugins.map((one, i) => ({ plugin: one, entry: `entry ${i}`, views: null })),
    settings(sections),
  );

function faultsOf(plugins: unknown[], sections?: Record<string, unknown>): string[] {
  try {
    registered(plugins, sections);
  } catch (error) {
    expect(error).to.be.instanceOf(PluginFaults);
    return (error as PluginFaults).message.split('\n');
  }
  return [];
}

describe('kernel/registry', () => {
  it('orders plugins by what they need and what they come after', () => {
    const order = registered([
      plugin('web', { after: ['unknown', 'bugs'] }),
      plugin('bugs', { needs: ['access.api', 'kernel.system'] }),
      plugin('access', { provides: ['access.api'] }),
    ]);
    expect(order.map(({ manifest }) => manifest.id)).to.deep.equal(['access', 'bugs', 'web']);
  });

  it('reads migrations by number, with gaps', () => {
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

  it('refuses two providers of a token, the kernel’s own included', () => {
    const mend = 'remove one of the two plugins';
    expect(
      faultsOf([plugin('one', { provides: ['x.api'] }), plugin('two', { provides: ['x.api', 'kernel.system'] })]),
    ).to.deep.equal([
      `plugin two: provides the token "x.api", which plugin one provides too; ${mend}`,
      `plugin two: provides the token "kernel.system", which plugin kernel provides too; ${mend}`,
    ]);
  });

  it('refuses ids that belong to the service', () => {
    for (const id of ['kernel', 'jobs', 'server']) {
      expect(faultsOf([plugin(id)])).to.deep.equal([
        `plugin ${id}: the id "${id}" belongs to the service itself; give it another id (entry 0)`,
      ]);
    }
  });

  it('names a plugin without id by its entry', () => {
    expect(faultsOf([plugin('x', { id: undefined }), null, 'text'])).to.deep.equal([
      'plugin entry 0: id is missing; mend its manifest (entry 0)',
      'plugin entry 1: is no plugin: it exports no object; export the plugin as `default` or as `plugin`',
      'plugin entry 2: is no plugin: it exports no object; export the plugin as `default` or as `plugin`',
    ]);
  });

  it('does not report a need whose provider has another fault', () => {
    expect(
      faultsOf([plugin('user', { needs: ['base.api'] }), plugin('base', { provides: ['base.api'], version: '1' })]),
    ).to.deep.equal(['plugin base: version must be a semantic version such as "1.2.0"; mend its manifest (entry 1)']);
  });

  it('takes plugins that are instances of classes', () => {
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

  it('judges values as they are: "1" is no API number', () => {
    expect(faultsOf([plugin('chat', { api: '1' })])).to.deep.equal([
      'plugin chat: api must be a number; mend its manifest (entry 0)',
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

    it('fills in defaults and converts what came as text', () => {
      expect(registered([chat], { chat: { url: 'http://example.test', retries: '5' } })[0]?.config).to.deep.equal({
        url: 'http://example.test',
        retries: 5,
      });
      expect(
        registered([plugin('plain', { config: Joi.object({ n: Joi.number().default(1) }) })])[0]?.config,
      ).to.deep.equal({ n: 1 });
    });

    it('names key, problem and origin, and never the value', () => {
      const faults = faultsOf([chat], { chat: { secret: 'Hunter2', colour: 'green' } });
      expect(faults).to.deep.equal([
        'configuration: chat.url is required; mend it in local.json (chat.url)',
        'configuration: chat.secret must match /^[a-z]+$/; mend it in local.json (chat.secret)',
        'configuration: chat.colour is unknown; mend it in local.json (chat.colour)',
      ]);
    });

    it('refuses a section that nobody has, and settings for a plugin without any', () => {
      expect(
        faultsOf([chat, plugin('quiet')], { chat: { url: 'http://a' }, chatt: {}, quiet: { loud: true } }),
      ).to.deep.equal([
        'configuration: quiet.loud is unknown: plugin quiet has no settings; mend it in local.json (quiet.loud)',
        'configuration: chatt is unknown: it is no setting of the service and no installed plugin has this section; mend it in local.json (chatt)',
      ]);
      expect(faultsOf([chat], { chat: 'on' })).to.deep.equal([
        'configuration: chat must be an object; mend it in local.json (chat)',
      ]);
    });
  });
});
