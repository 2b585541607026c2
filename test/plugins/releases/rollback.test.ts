/** Returning a channel to an earlier release (contract 97, rollback). */
import { expect } from 'chai';
import { createVerify } from 'node:crypto';
import { ServiceError } from '../../../kernel/errors.js';
import { parseFreshness } from '../../../lib/formats/freshness.js';
import type { Platform } from '../../../lib/formats/platform.js';
import type { RollbackResult } from '../../../plugins/releases/publishing/rollback-service.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { getRejection } from '../../harness.js';
import { useStore } from '../../support/stores.js';
import { CI, fixtureOn, SIGNER, STORE, type Fixture } from './fixture.js';

const PACKAGE = 'package.tar.gz';

for (const engine of STORE.all)
  describe(`releases: rollback (${engine.name})`, () => {
    let one: Fixture;
    let documents: DocumentStore;
    useStore(engine, (store) => {
      documents = store;
      one = fixtureOn(store);
    });

    const rollBack = (to: string, platform: Platform | null = null, reason = 'bad'): Promise<RollbackResult> =>
      one.rollbacks.rollBack(CI, { product: 'shop', channel: 'stable', version: to, platform }, reason);
    const publishAll = async (...versions: string[]): Promise<void> => {
      for (const version of versions) await one.publish(version);
    };
    const getStatement = () => parseFreshness(one.index.getStatement('shop', 'stable')?.statement ?? '');
    async function getFault(work: Promise<unknown>): Promise<string> {
      const error = await getRejection(work);
      if (!(error instanceof ServiceError)) throw error;
      return `${error.code}: ${error.message}`;
    }

    it('offers the named release as the newest, and withdraws later ones', async () => {
      await publishAll('1.0', '1.1', '1.2', '1.3');
      const { releases, withdrawn, unchanged } = await rollBack('1.1.0');
      expect(unchanged).to.equal(false);
      expect(releases.map(({ version }) => version)).to.deep.equal(['1.1']);
      expect(withdrawn.map(({ version, withdrawn_reason }) => [version, withdrawn_reason])).to.deep.equal([
        ['1.3', 'bad'],
        ['1.2', 'bad'],
      ]);
      for (const version of ['1.2', '1.3'])
        expect(await one.releaseStore.open(['shop', 'stable', version, 'any', PACKAGE])).to.equal(null);
      const listed = await one.lists.listPage(CI, { limit: 10, include_total: false });
      expect(listed.items.filter(({ rolled_back }) => rolled_back).map(({ version }) => version)).to.have.members([
        '1.2',
        '1.3',
      ]);
      expect(await one.check('1.0')).to.include({ latest_version: '1.1' });
      expect((await one.check('1.0')).release?.version).to.equal('1.1');
      expect(await one.check('1.1')).to.include({ update_available: false, latest_version: '1.1' });
    });

    it('offers the earlier release to machines with a version that was rolled back', async () => {
      await publishAll('1.0', '1.1', '1.2');
      await rollBack('1.0');
      for (const version of ['1.1', '1.2'])
        expect((await one.check(version)).release?.version, version).to.equal('1.0');
      expect((await one.check('1.3')).release).to.equal(null);
    });

    it('states the rollback in the signed freshness until a newer release is offered', async () => {
      await publishAll('1.0', '1.1', '1.2');
      expect(one.index.getStatement('shop', 'stable')?.statement).not.to.include('rollback');
      const { rollback } = await rollBack('1.0');
      const row = one.index.getStatement('shop', 'stable');
      const key = await SIGNER.getKey();
      const verify = createVerify('RSA-SHA256').update(row?.statement ?? '');
      expect(verify.verify(key?.public_key ?? '', row?.signature ?? '', 'base64')).to.equal(true);
      expect(rollback).to.deep.equal({ from: '1.2', to: '1.0', at: one.clock.iso() });
      expect(getStatement()?.rollback).to.deep.equal(rollback);
      expect(getStatement()?.latest.any?.version).to.equal('1.0');
      await publishAll('1.1.5');
      expect(getStatement()?.rollback).to.deep.equal(rollback);
      expect((await one.check('1.2')).release?.version).to.equal('1.1.5');
      await publishAll('1.3');
      expect(getStatement()?.rollback).to.equal(undefined);
      expect((await one.check('1.2')).release?.version).to.equal('1.3');
    });

    it('sends one event, records the audit entry, and changes nothing when it is repeated', async () => {
      await publishAll('1.0', '1.1', '1.2');
      one.told.length = 0;
      await rollBack('1.0', null, 'loses the cart');
      const again = await rollBack('1.0');
      expect(again).to.deep.include({ unchanged: true, withdrawn: [] });
      expect(again.rollback).to.include({ from: '1.2', to: '1.0' });
      expect(one.told.map(({ event, data }) => [event, data])).to.deep.equal([
        [
          'release.rolled_back',
          {
            product: 'shop',
            channel: 'stable',
            platform: null,
            from: '1.2',
            to: '1.0',
            reason: 'loses the cart',
            withdrawn: ['1.2', '1.1'],
          },
        ],
      ]);
      expect(one.audited.filter((entry) => entry.startsWith('release.rolled_back'))).to.deep.equal([
        'release.rolled_back shop 1.0 (stable, any)',
      ]);
    });

    it('rolls back machines with a release that was withdrawn before', async () => {
      await publishAll('1.0', '1.1');
      await one.changes.withdraw(CI, { product: 'shop', channel: 'stable', version: '1.1', platform: null }, 'first');
      expect((await one.check('1.1')).release).to.equal(null);
      const { withdrawn, rollback } = await rollBack('1.0');
      expect(withdrawn.map((doc) => [doc.version, doc.withdrawn_reason])).to.deep.equal([['1.1', 'first']]);
      expect(rollback).to.include({ from: '1.1', to: '1.0' });
      expect((await one.check('1.1')).release?.version).to.equal('1.0');
    });

    it('offers a rolled back version again when it is published again', async () => {
      await publishAll('1.0', '1.1');
      await rollBack('1.0');
      await publishAll('1.1');
      expect((await one.check('1.0')).release?.version).to.equal('1.1');
      expect(getStatement()?.rollback).to.equal(undefined);
      const [doc] = await one.docs.listByVersion('shop', 'stable', '1.1');
      expect(doc).not.to.have.any.keys('rolled_back');
    });

    it('rolls back one platform', async () => {
      for (const version of ['1.0', '1.1'])
        for (const platform of ['linux-x64', 'win-x64'] as const) await one.publish(version, version, { platform });
      await rollBack('1.0', 'linux-x64');
      expect((await one.check('1.1', { platform: 'linux-x64' })).release?.version).to.equal('1.0');
      expect((await one.check('1.0', { platform: 'win-x64' })).release?.version).to.equal('1.1');
      expect((await one.check('1.1', { platform: 'win-x64' })).release).to.equal(null);
    });

    it('shows the rollback to other processes', async () => {
      await publishAll('1.0', '1.1');
      const other = fixtureOn(documents, one.releaseStore, one.clock);
      await other.index.refresh();
      await rollBack('1.0');
      await other.index.refresh();
      expect((await other.check('1.1')).release?.version).to.equal('1.0');
    });

    it('rejects what would not make the release the newest offered one', async () => {
      await publishAll('1.0', '1.2');
      await one.publish('1.1', 'x', { rollout_percent: 20 });
      await one.publish('1.0', 'y', { platform: 'linux-x64' });
      expect(await getFault(rollBack('0.9'))).to.match(/^not_found: .*0\.9/);
      expect(await getFault(rollBack('1.0', 'win-x64'))).to.match(/^not_found/);
      expect(await getFault(rollBack('1.0', null, ' '))).to.match(/^reason_required/);
      expect(await getFault(rollBack('1.1'))).to.match(/^conflict: .*offered to 20 %.*Set its rollout to 100/);
      expect(await getFault(rollBack('1.0', 'linux-x64'))).to.match(/^conflict: 1\.2 for any platform/);
      await one.changes.haltManually(
        CI,
        { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' },
        'faults',
      );
      expect(await getFault(rollBack('1.0'))).to.match(/^conflict: .*halted/);
      await one.changes.withdraw(CI, { product: 'shop', channel: 'stable', version: '1.0', platform: null }, 'x');
      expect(await getFault(rollBack('1.0'))).to.match(/^conflict: .*withdrawn/);
      expect((await one.check('1.0')).latest_version).to.equal('1.2');
      expect(one.told.map(({ event }) => event)).not.to.include('release.rolled_back');
    });
  });
