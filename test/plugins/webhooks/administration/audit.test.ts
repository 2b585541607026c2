/**
 * What the audit log keeps of a changed webhook: fields before and after, of secrets only that they
 * are set.
 */
import { expect } from 'chai';
import { ADMIN, memoryFixture, type Fixture } from '../fixture.js';

describe('webhooks in the audit log', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  afterEach(() => fixture.close());

  it('record changed fields before and after, without URL path or secret', async () => {
    const { id } = await fixture.hook('https://hooks.example/T0/OLD-PATH');
    await fixture.registry.change(ADMIN, id, {
      name: 'renamed',
      url: 'https://other.example/T0/NEW-PATH',
      secret: 'whsec_a-new-secret-of-the-webhook',
    });
    await fixture.registry.disable(ADMIN, id);
    await fixture.registry.rotateSecret(ADMIN, id);
    const [changed, disabled, rotated] = fixture.changes;
    expect(changed?.before).to.include({ name: 'receiver', url: 'hooks.example', secret: 'set' });
    expect(changed?.after).to.include({ name: 'renamed', url: 'other.example', secret: 'set' });
    expect(disabled).to.deep.equal({
      action: 'webhook.disabled',
      before: { enabled: true },
      after: { enabled: false },
    });
    expect(rotated).to.deep.equal({
      action: 'webhook.secret_rotated',
      before: { secret: 'set' },
      after: { secret: 'set' },
    });
    expect(JSON.stringify(fixture.changes)).to.not.match(/PATH|a-new-secret/);
  });
});
