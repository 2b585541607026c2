/** The live topics of webhooks: what another process of the same store does is seen too. */
import 'reflect-metadata';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { buildWebhookTopics } from '../../../../plugins/webhooks/pages/live-topics.js';
import { waitUntil } from '../../../harness.js';
import { ADMIN, fixtureOn, type Fixture } from '../fixture.js';
import { Receiver, status } from '../receiver.js';

describe('webhooks: live topics', function () {
  let here: Fixture;
  let there: Fixture;
  let to: Receiver;

  beforeEach(async () => {
    const store = new MemoryStore();
    here = fixtureOn(store);
    there = fixtureOn(store);
    to = await Receiver.open(status(200));
  });
  afterEach(async () => {
    await Promise.all([here.close(), there.close()]);
    await to.close();
  });

  it('updates the version marks of its pages on a redelivery with the same outcome elsewhere', async () => {
    const { id } = await here.hook(to.url);
    await here.emit();
    await waitUntil('it is delivered', async () => (await here.deliveries(id))[0]?.state === 'success');
    const delivery = (await here.deliveries(id))[0]?.id ?? '';
    const subjects: Record<string, string> = { webhooks: '', webhook: id, delivery };
    const marks = async (): Promise<Record<string, string>> => {
      const all = buildWebhookTopics(here.deps, here).map(async (topic) => [
        topic.name,
        await topic.getRevision(subjects[topic.name] ?? ''),
      ]);
      return Object.fromEntries(await Promise.all(all)) as Record<string, string>;
    };
    const before = await marks();
    expect(await marks()).to.deep.equal(before);
    await there.registry.redeliver(ADMIN, delivery);
    await waitUntil('it is delivered again', async () => (await here.deliveries(id))[0]?.made === 2);
    const after = await marks();
    expect(after['webhook']).to.not.equal(before['webhook']);
    expect(after['delivery']).to.not.equal(before['delivery']);
  });

  it('returns a constant version mark for a missing webhook', async () => {
    for (const topic of buildWebhookTopics(here.deps, here))
      expect(await topic.getRevision('nobody')).to.equal(await topic.getRevision('nobody'));
  });
});
