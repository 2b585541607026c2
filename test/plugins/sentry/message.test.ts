/**
 * Log messages and their templates (contract 21, Sentry SDK intake): shown with their values,
 * grouped without.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseMessage } from '../../../plugins/sentry/event-message.js';
import { ENVELOPE, event, Fixture } from './fixture.js';

const logged = (message: string, params?: unknown, formatted?: string): object => ({
  logentry: { message, ...(params !== undefined && { params }), ...(formatted !== undefined && { formatted }) },
});
const shown = (message: string, params: unknown): string | undefined =>
  parseMessage(logged(message, params) as never)?.shown;

describe('sentry message', () => {
  const FILLED: readonly (readonly [template: string, params: unknown, shown: string])[] = [
    ['login of %s failed', ['bob'], 'login of bob failed'],
    ['%s: %s', ['stock', 'low'], 'stock: low'],
    ['%(user)s has %(n)d', { user: 'bob', n: 3 }, 'bob has 3'],
    ['%2$s of %1$s', ['a', 'b'], 'b of a'],
    ['%.2f%% of %5d, %x', [12.345, 7, 255], '12.35% of 7, ff'],
    ['login of {} failed', ['bob'], 'login of bob failed'],
    ['{1} of {0}', ['a', 'b'], 'b of a'],
    ['login of {User} failed', { User: 'bob' }, 'login of bob failed'],
    ['login of {User} failed', ['bob'], 'login of bob failed'],
    ['total {total:0.00}', { total: 5 }, 'total 5'],
    ['%s', [{ a: [1] }], '{"a":[1]}'],
    ['%s and %s', ['one'], 'one and %s'],
    ['100% of it', ['x'], '100% of it'],
    ['no place', ['x'], 'no place'],
    ['%s', [], '%s'],
    ['%s', null, '%s'],
    ['%(__proto__)s', {}, '%(__proto__)s'],
    ['%(constructor)s', { a: 1 }, '%(constructor)s'],
  ];
  for (const [template, params, expected] of FILLED)
    it(`formats ${template} with ${JSON.stringify(params)}`, () => expect(shown(template, params)).to.equal(expected));

  it('prefers the text formatted by the SDK', () => {
    const message = parseMessage(logged('login of %s failed', ['bob'], 'login of BOB failed') as never);
    expect(message).to.deep.equal({ shown: 'login of BOB failed', template: 'login of %s failed' });
  });

  it('returns no template for a text without parameters', () => {
    for (const given of [logged('low', undefined, 'low'), logged('low'), { message: 'low' }])
      expect(parseMessage(given as never)).to.deep.equal({ shown: 'low', template: null });
    expect(parseMessage({})).to.equal(null);
  });

  it('accepts any template and values, and limits the length', () => {
    const template = fc.array(fc.constantFrom('%s', '%', '{}', '{0}', '%(a)s', '%1$s', '{a', 'x'), { maxLength: 40 });
    fc.assert(
      fc.property(template, fc.jsonValue(), (parts, params) => {
        expect(parseMessage(logged(parts.join(''), params) as never)?.shown ?? '').to.be.a('string');
      }),
    );
    const large = { a: 'x'.repeat(500_000) };
    expect(shown('%1$s'.repeat(50_000), [large])?.length).to.be.at.most(8192);
  });

  describe('templates of SDK events', () => {
    let fixture: Fixture;
    beforeEach(async () => {
      fixture = await Fixture.create();
    });
    afterEach(() => fixture.stop());

    const send = async (...entries: object[]): Promise<void> => {
      for (const entry of entries) {
        const body = `{}\n{"type":"event"}\n${JSON.stringify({ ...event(), exception: undefined, ...entry })}`;
        expect((await fixture.post(ENVELOPE, body)).status).to.equal(200);
      }
    };

    it('groups all names together, with the first name in the title', async () => {
      const of = (name: string): object => logged('login of %s failed', [name], `login of ${name} failed`);
      await send(of('alice'), of('bob'), logged('login of %s failed', ['carol']));
      const items = await fixture.items();
      expect(items).to.have.length(1);
      expect(items[0]).to.include({ title: 'login of alice failed', hit_count: 3 });
    });

    it('creates another group for another template', async () => {
      await send(logged('login of %s failed', ['bob']), logged('logout of %s failed', ['bob']));
      expect(await fixture.items()).to.have.length(2);
    });
  });
});
