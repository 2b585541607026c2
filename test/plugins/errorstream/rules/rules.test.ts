/**
 * What ignore rules do to reports and groups (contract 21, ignore rules), on every engine that
 * needs no server.
 */
import { expect } from 'chai';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { TEMPLATE_ID } from '../../../../plugins/errorstream/rules/documents.js';
import { codeOf, errorReport, MANAGER, settled, shown, STORES } from '../../bugs/fixture.js';
import { waitUntil } from '../../../harness.js';
import { boundTo, MEMBER, migrated, rulesOn, type RuleFixture } from './fixture.js';

for (const { name, open } of STORES) {
  describe(`ignore rules on ${name}`, () => {
    let store: DocumentStore;
    let close: () => Promise<void>;
    let fixture: RuleFixture;
    beforeEach(async () => {
      ({ store, close } = await open());
      fixture = await rulesOn(store);
    });
    afterEach(async () => {
      await settled(fixture.bugs);
      await close();
    });

    const record = (fields: Parameters<typeof errorReport>[0] = {}) => fixture.bugs.bugs.record(errorReport(fields));
    const reported = async (): Promise<string[]> => {
      await settled(fixture.bugs);
      return fixture.bugs.told.map(({ event }) => event);
    };

    it('corrects a future last hit on the next hit, after the clock moved backwards', async () => {
      const rule = await fixture.rule({ reason: 'known noise' });
      const right = fixture.clock.now();
      fixture.clock.set(right + 365 * 86_400_000);
      await record();
      fixture.clock.set(right);
      fixture.clock.advance(1000);
      await record();
      const shown = { hit_count: 2, last_hit_at: fixture.clock.iso() };
      expect(await fixture.registry.get(MEMBER, rule.id)).to.include(shown);
    });

    it('stores a match as muted, counts it for the rule, and emits nothing', async () => {
      const rule = await fixture.rule({ reason: 'known noise' });
      const first = await record();
      expect(first).to.include({ created: true, ignored_by: rule.id, hit_count: 1 });
      expect(first.item).to.include({ muted: true, muted_reason: 'known noise', muted_by_rule_id: rule.id });
      fixture.clock.advance(1000);
      const again = await record();
      expect(again).to.include({ created: false, ignored_by: rule.id, hit_count: 2 });
      expect(await fixture.registry.get(MEMBER, rule.id)).to.include({
        hit_count: 2,
        last_hit_at: fixture.clock.iso(),
        updated_at: rule.updated_at,
      });
      expect(await reported()).to.deep.equal([]);
    });

    it('the first enabled rule by creation time takes precedence', async () => {
      const off = await fixture.rule({ enabled: false });
      const first = await fixture.rule({ pattern: 'cart' });
      const second = await fixture.rule({ pattern: 'cart is empty', project: 'alpha' });
      expect((await record()).ignored_by).to.equal(first.id);
      await fixture.registry.change(MEMBER, off.id, { enabled: true });
      expect((await record()).ignored_by).to.equal(off.id);
      await fixture.registry.remove(MEMBER, off.id);
      await fixture.registry.remove(MEMBER, first.id);
      expect((await record()).ignored_by).to.equal(second.id);
    });

    it('applies to errors only, from every intake', async () => {
      const rule = await fixture.rule({ pattern: 'breaks' });
      expect((await record({ type: 'bug', title: 'It breaks' })).ignored_by).to.equal(null);
      expect((await record({ source: 'agent', title: 'It breaks' })).ignored_by).to.equal(rule.id);
    });

    it('matches the scrubbed text, so a secret cannot match', async () => {
      const rule = await fixture.rule({ pattern: 'hunter2' });
      expect((await record({ error_message: 'login failed, password=hunter2', title: 'x' })).ignored_by).to.equal(null);
      await fixture.registry.change(MEMBER, rule.id, { pattern: 'login failed, password=' });
      expect((await record({ error_message: 'login failed, password=hunter2', title: 'x' })).ignored_by).to.equal(
        rule.id,
      );
    });

    for (const change of [
      'disabled',
      'deleted',
      'expired',
      'edited',
      'moved to another project',
      'other environment',
    ] as const) {
      it(`${change}: unmutes its groups, and the next occurrence emits the event`, async () => {
        const rule = await fixture.rule({ expires_at: new Date(fixture.clock.now() + 60_000).toISOString() });
        const { id } = await record();
        if (change === 'disabled') await fixture.registry.change(MEMBER, rule.id, { enabled: false });
        if (change === 'deleted') await fixture.registry.remove(MEMBER, rule.id);
        if (change === 'edited') await fixture.registry.change(MEMBER, rule.id, { pattern: 'something else' });
        if (change === 'moved to another project') await fixture.registry.change(MEMBER, rule.id, { project: 'beta' });
        if (change === 'other environment') await fixture.registry.change(MEMBER, rule.id, { environment: 'ci' });
        if (change === 'expired') {
          fixture.clock.advance(60_000);
          await fixture.tick();
        }
        expect(await shown(fixture.bugs, id)).to.include({ muted: false, muted_reason: null, muted_by_rule_id: null });
        expect(await reported()).to.deep.equal([]);
        expect((await record()).ignored_by).to.equal(null);
        expect(await reported()).to.deep.equal(['bug.created']);
        fixture.clock.advance(10_000);
        await fixture.tick();
        if (change === 'deleted') expect(await fixture.stored(rule.id)).to.equal(null);
        else expect(await fixture.stored(rule.id)).to.include({ settle_at: null });
      });
    }

    it('an expired rule matches nothing, even before the cleanup job runs', async () => {
      await fixture.rule({ expires_at: new Date(fixture.clock.now() + 1).toISOString() });
      const { id } = await record();
      fixture.clock.advance(1);
      expect((await record()).item).to.include({ muted: false });
      expect(await shown(fixture.bugs, id)).to.include({ muted: false, hit_count: 2 });
    });

    it('an edit that still matches leaves groups muted, with the new reason', async () => {
      const rule = await fixture.rule();
      const { id } = await record();
      await fixture.registry.change(MEMBER, rule.id, { pattern: 'cart', reason: 'reworded' });
      expect(await shown(fixture.bugs, id)).to.include({ muted: true, muted_reason: 'reworded' });
      await fixture.registry.change(MEMBER, rule.id, { name: 'renamed', alarm_threshold: 5 });
      expect(await fixture.stored(rule.id)).to.include({ name: 'renamed', alarm_threshold: 5 });
      expect(await shown(fixture.bugs, id)).to.include({ muted: true });
    });

    it('an occurrence that matches no rule unmutes its group', async () => {
      await fixture.rule({ pattern: 'order 1' });
      const { id } = await record({ error_message: 'order 1234567 failed', title: 'order' });
      expect(await shown(fixture.bugs, id)).to.include({ muted: true });
      const other = await record({ error_message: 'order 7654321 failed', title: 'order' });
      expect(other).to.include({ id, ignored_by: null });
      expect(other.item).to.include({ muted: false, hit_count: 2 });
      expect(await reported()).to.deep.equal(['bug.created']);
    });

    it('counts a match for a repeated client_ref only once, with the same response', async () => {
      const rule = await fixture.rule();
      const first = await record({ client_ref: 'r' });
      const again = await record({ client_ref: 'r' });
      expect(again).to.include({ repeated: true, ignored_by: rule.id, id: first.id });
      expect(await fixture.stored(rule.id)).to.include({ hit_count: 1 });
    });

    it('counts every match of 64 parallel reports', async () => {
      const rule = await fixture.rule();
      const done = await Promise.all(
        Array.from({ length: 64 }, (_, i) => record({ client_ref: i % 2 ? `r${i}` : null })),
      );
      expect(new Set(done.map(({ ignored_by }) => ignored_by))).to.deep.equal(new Set([rule.id]));
      expect(await fixture.stored(rule.id)).to.include({ hit_count: 64 });
    });

    it('reopens a muted group on a regression without an event, emitted when it is unmuted', async () => {
      const { id } = await record({ app_version: '1.0' });
      await fixture.bugs.edits.edit(id, MANAGER, { status: 'resolved', resolved_in_build: '1.1' });
      const rule = await fixture.rule();
      expect(await record({ app_version: '1.1' })).to.include({ regression: true });
      expect(await shown(fixture.bugs, id)).to.include({ status: 'open', muted: true, regression: true });
      expect(await reported()).to.deep.equal(['bug.created', 'bug.resolved']);
      await fixture.registry.change(MEMBER, rule.id, { enabled: false });
      await record({ app_version: '1.1' });
      expect(await reported()).to.include.members(['bug.created', 'bug.resolved', 'bug.critical']);
      expect(fixture.bugs.told.filter(({ event }) => event === 'bug.created')).to.have.length(2);
      expect(fixture.bugs.told.at(-2)?.data).to.include({ regression: true });
    });

    it('preview counts and lists groups, and stores nothing', async () => {
      for (let i = 0; i < 25; i++) {
        fixture.clock.advance(1000);
        await record({
          exception_class: `E${String.fromCharCode(97 + i)}`,
          title: `E${i}: cart`,
          file_path: `${i}x.ts`,
        });
      }
      await record({ error_message: 'other', title: 'other', exception_class: 'Other' });
      const before = await fixture.deps.rules.count();
      const preview = await fixture.registry.preview(MEMBER, { match_type: 'contains', pattern: 'CART' });
      expect(preview).to.include({ count: 25, complete: true });
      expect(preview.samples).to.have.length(20);
      expect(preview.samples[0]).to.include({ exception_class: 'Ey', muted: false, error_message: 'cart is empty' });
      const one = await fixture.registry.preview(MEMBER, {
        match_type: 'exception_class',
        pattern: 'Other',
        project: 'alpha',
      });
      expect(one.count).to.equal(1);
      expect(await fixture.deps.rules.count()).to.equal(before);
      expect((await fixture.bugs.board.list({ muted: [true] })).items).to.deep.equal([]);
    });

    it('apply mutes existing groups in batches, and skips them when repeated', async () => {
      const bulk = Array.from({ length: 430 }, (_, i) =>
        record({ exception_class: `C${i}z`, title: `C${i}`, file_path: `f${i}.ts` }),
      );
      await Promise.all(bulk);
      await record({ error_message: 'other', title: 'other', exception_class: 'Other' });
      const rule = await fixture.rule();
      expect(await fixture.registry.apply(MEMBER, rule.id, { dry_run: true })).to.deep.equal({
        matched: 430,
        muted: 0,
        skipped: 0,
      });
      expect((await fixture.registry.listMutedGroups(rule.id, 1)).items).to.deep.equal([]);
      expect(await fixture.registry.apply(MEMBER, rule.id, {})).to.deep.equal({ matched: 430, muted: 430, skipped: 0 });
      expect(await fixture.registry.apply(MEMBER, rule.id, {})).to.deep.equal({ matched: 430, muted: 0, skipped: 430 });
      expect(await fixture.stored(rule.id)).to.include({ hit_count: 0 });
      await fixture.registry.change(MEMBER, rule.id, { enabled: false });
      expect((await fixture.registry.listMutedGroups(rule.id, 1)).items).to.deep.equal([]);
      expect(await codeOf(fixture.registry.apply(MEMBER, rule.id, {}))).to.equal('conflict');
    });

    it('an interrupted apply is resumed by another process at the same position', async () => {
      await Promise.all(
        Array.from({ length: 450 }, (_, i) =>
          record({ exception_class: `C${i}z`, title: `C${i}`, file_path: `f${i}.ts` }),
        ),
      );
      const rule = await fixture.rule();
      let pages = 0;
      const victim = await rulesOn(store, fixture.clock, (deps) => {
        const { muting } = deps;
        deps.muting = {
          countGroups: (project) => muting.countGroups(project),
          countMuted: (ruleId) => muting.countMuted(ruleId),
          mute: (id, mute) => muting.mute(id, mute),
          unmute: (id, ruleId) => muting.unmute(id, ruleId),
          updateReason: (id, mute) => muting.updateReason(id, mute),
          listGroups: (query) => (++pages > 2 ? new Promise<never>(() => undefined) : muting.listGroups(query)),
        };
      });
      await victim.registry.startApply(MEMBER, rule.id);
      await waitUntil('two batches', async () => (await fixture.registry.findLastRun(rule.id))?.scanned === 400);
      await fixture.tick();
      expect(await fixture.registry.findLastRun(rule.id)).to.include({
        state: 'running',
        scanned: 400,
        muted: 400,
        total: 450,
      });
      expect(await codeOf(fixture.registry.startApply(MEMBER, rule.id))).to.equal('conflict');
      fixture.clock.advance(15_001);
      await fixture.tick();
      await fixture.runs.waitForIdle();
      expect(await fixture.registry.findLastRun(rule.id)).to.include({
        state: 'done',
        scanned: 450,
        matched: 450,
        muted: 450,
      });
      await fixture.registry.startApply(MEMBER, rule.id);
      await fixture.runs.waitForIdle();
      expect(await fixture.registry.findLastRun(rule.id)).to.include({
        state: 'done',
        scanned: 450,
        muted: 0,
        skipped: 450,
      });
      expect(victim.audited.map(({ action }) => action)).to.deep.equal(['ignore_rule.applied']);
    });

    it('disabling a rule stops a running apply', async () => {
      await Promise.all(
        Array.from({ length: 250 }, (_, i) => record({ exception_class: `C${i}z`, file_path: `f${i}.ts` })),
      );
      const rule = await fixture.rule();
      const applied = codeOf(fixture.registry.apply(MEMBER, rule.id, {}));
      await fixture.registry.change(MEMBER, rule.id, { enabled: false });
      expect(await applied).to.equal('conflict');
      fixture.clock.advance(10_000);
      await fixture.tick();
      expect((await fixture.registry.listMutedGroups(rule.id, 1)).items).to.deep.equal([]);
    });

    it('the job of another process completes an unmute interrupted by a crash', async () => {
      const rule = await fixture.rule();
      const { id } = await record();
      const victim = await rulesOn(store, fixture.clock, (deps) => {
        deps.bugs = { unmuteByRule: () => Promise.reject(new Error('died')) };
      });
      await victim.registry.remove(MEMBER, rule.id).then(
        () => expect.fail('not answered'),
        (error: Error) => expect(error.message).to.equal('died'),
      );
      expect(await shown(fixture.bugs, id)).to.include({ muted: true });
      expect(await codeOf(fixture.registry.get(MEMBER, rule.id))).to.equal('not_found');
      await fixture.tick();
      expect(await shown(fixture.bugs, id)).to.include({ muted: false });
      expect(await fixture.stored(rule.id)).to.not.equal(null);
      fixture.clock.advance(5_000);
      await fixture.tick();
      expect(await fixture.stored(rule.id)).to.equal(null);
    });

    it('applies a change immediately in this process, and within two seconds in others', async () => {
      const other = await rulesOn(store, fixture.clock);
      const rule = await fixture.rule();
      expect((await record()).ignored_by).to.equal(rule.id);
      expect((await other.bugs.bugs.record(errorReport())).ignored_by).to.equal(rule.id);
      await fixture.registry.change(MEMBER, rule.id, { enabled: false });
      expect((await record()).ignored_by).to.equal(null);
      fixture.clock.advance(2_001);
      expect((await other.bugs.bugs.record(errorReport())).ignored_by).to.equal(null);
      await settled(other.bugs);
    });

    it('applies a change in another process within a second under load, and reverts late mutes', async () => {
      const other = await rulesOn(store, fixture.clock);
      const rule = await fixture.rule();
      await other.bugs.bugs.record(errorReport());
      await fixture.registry.remove(MEMBER, rule.id);
      const late = await other.bugs.bugs.record(errorReport({ exception_class: 'Late', file_path: 'late.ts' }));
      expect(late.ignored_by).to.equal(rule.id);
      fixture.clock.advance(1_001);
      await other.bugs.bugs.record(errorReport());
      await other.book.reload();
      expect((await other.bugs.bugs.record(errorReport())).ignored_by).to.equal(null);
      fixture.clock.advance(5_000);
      await fixture.tick();
      expect(await shown(fixture.bugs, late.id)).to.include({ muted: false });
      expect(await fixture.stored(rule.id)).to.equal(null);
      await settled(other.bugs);
    });

    it('the template exists once, disabled, and can be enabled', async () => {
      await migrated(fixture);
      await migrated(fixture);
      const template = await fixture.registry.get(MEMBER, TEMPLATE_ID);
      expect(template).to.include({ is_template: true, enabled: false, project: null, match_type: 'regex' });
      const messages = [
        "Duplicate entry 'a@b.example' for key 'users.email'",
        'ERROR: duplicate key value violates unique constraint "users_email_key"',
        "Cannot insert duplicate key row in object 'dbo.users' with unique index 'ix'",
        'E11000 duplicate key error collection: shop.users index: email_1 dup key',
        'UNIQUE constraint failed: users.email',
      ];
      for (const error_message of messages)
        expect((await record({ error_message })).ignored_by, error_message).to.equal(null);
      await fixture.registry.change(MEMBER, TEMPLATE_ID, { enabled: true });
      for (const error_message of messages)
        expect((await record({ error_message })).ignored_by, error_message).to.equal(TEMPLATE_ID);
    });

    it('records actions of users in the audit log', async () => {
      const { id } = await fixture.rule();
      await fixture.registry.change(MEMBER, id, { pattern: 'x y' });
      await fixture.registry.change(MEMBER, id, { enabled: false });
      await fixture.registry.change(MEMBER, id, { enabled: true });
      await fixture.registry.apply(MEMBER, id, { dry_run: true });
      await fixture.registry.apply(MEMBER, id, {});
      await fixture.registry.remove(MEMBER, id);
      expect(fixture.audited.map(({ action }) => action)).to.deep.equal(
        ['created', 'changed', 'disabled', 'enabled', 'applied', 'deleted'].map((what) => `ignore_rule.${what}`),
      );
      expect(new Set(fixture.audited.map(({ target }) => target))).to.deep.equal(new Set([id]));
    });

    it('a project-bound token reads its rules and global ones, but changes only its own', async () => {
      const alpha = boundTo('alpha');
      const all = await fixture.rule({ pattern: 'everywhere' });
      const beta = await fixture.rule({ pattern: 'beta', project: 'beta' });
      const own = await fixture.registry.create(alpha, { match_type: 'contains', pattern: 'own', reason: 'r' });
      expect(own.project).to.equal('alpha');
      const page = await fixture.registry.getPage(alpha, { limit: 50 });
      expect(page.items.map(({ id }) => id)).to.deep.equal([all.id, own.id]);
      expect(await page.count()).to.equal(2);
      expect((await fixture.registry.get(alpha, all.id)).id).to.equal(all.id);
      expect(await codeOf(fixture.registry.get(alpha, beta.id))).to.equal('not_found');
      expect(await codeOf(fixture.registry.change(alpha, all.id, { reason: 'x' }))).to.equal('insufficient_scope');
      expect(await codeOf(fixture.registry.change(alpha, own.id, { project: null }))).to.equal('insufficient_scope');
      expect(await codeOf(fixture.registry.remove(alpha, all.id))).to.equal('insufficient_scope');
      expect(await codeOf(fixture.registry.apply(alpha, beta.id, {}))).to.equal('not_found');
      expect(
        await codeOf(fixture.registry.preview(alpha, { match_type: 'contains', pattern: 'x', project: 'beta' })),
      ).to.equal('insufficient_scope');
      await record({ project: 'beta' });
      expect((await fixture.registry.preview(alpha, { match_type: 'contains', pattern: 'cart' })).count).to.equal(0);
    });
  });
}
