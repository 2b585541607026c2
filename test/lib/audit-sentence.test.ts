import { expect } from 'chai';
import {
  formatAuditActor,
  formatAuditSentence,
  formatAuditValue,
  type AuditedAction,
} from '../../lib/audit-sentence.js';

const TABLE: [expected: string, name: string, entry: Partial<AuditedAction> & { action: string }][] = [
  [
    'admin changed rollout of till 2.3.0 from 10 % to 13 %',
    'till 2.3.0',
    {
      action: 'release.rollout',
      before: { rollout_percent: 10, halted_at: null },
      after: { rollout_percent: 13, halted_at: null },
    },
  ],
  [
    'admin resumed the rollout of till 2.3.0 at 13 %',
    'till 2.3.0',
    {
      action: 'release.rollout',
      before: { rollout_percent: 13, halted_at: '2026-11-29T10:00:00.000Z' },
      after: { rollout_percent: 13, halted_at: null },
    },
  ],
  ['AOS halted the rollout of till 2.3.0', 'till 2.3.0', { actor: 'system', action: 'release.halted' }],
  [
    'Token ci published release till 2.3.0',
    'till 2.3.0',
    { actor: 'token ci (svc_live_AbC)', action: 'release.published' },
  ],
  ['lena was denied access to /releases/…', '/releases/{path*}', { actor: 'lena', action: 'scope.refused' }],
  ['An anonymous visitor was denied access to /x/…/y', '/x/{id}/y', { actor: 'public', action: 'scope.refused' }],
  ['admin added the sample data', 'sample', { action: 'sample_data.added' }],
  ['admin removed the sample data', 'sample', { action: 'sample_data.removed' }],
  ['Sign-in as lena failed', 'lena', { action: 'login.failed' }],
  [
    'The command line revoked token ci',
    'ci',
    { actor: 'command line: aos token revoke', action: 'token.revoked', before: {}, after: {} },
  ],
  [
    'admin changed machine limit of license Acme from 3 to 5',
    'Acme',
    { action: 'license.changed', before: { max_activations: 3 }, after: { max_activations: 5 } },
  ],
  [
    'admin changed expiry of license Acme to 2027-01-31 00:00 UTC',
    'Acme',
    { action: 'license.changed', before: { expires_at: null }, after: { expires_at: '2027-01-31T00:00:00.000Z' } },
  ],
  [
    'admin changed name and tags of monitor web-1',
    'web-1',
    { action: 'monitor.changed', before: { name: 'a', tags: 'x' }, after: { name: 'b', tags: 'y' } },
  ],
  ['admin blocked machine of license Acme', 'Acme', { action: 'license.machine_blocked' }],
  ['admin created alert channel Ops', 'Ops', { action: 'channel.created' }],
  ['admin: thing, x', 'x', { action: 'thing' }],
];

describe('lib: sentences of the audit log', () => {
  for (const [expected, name, entry] of TABLE)
    it(expected, () => expect(formatAuditSentence({ actor: 'admin', details: {}, ...entry }, name)).to.equal(expected));

  it('names actors as people know them', () => {
    expect(formatAuditActor('admin (plugin:dispatch)')).to.equal('admin');
    expect(formatAuditActor('plugin:dispatch')).to.equal('plugin dispatch');
    expect(formatAuditActor('system')).to.equal('AOS');
  });
});

describe('audit values', () => {
  it('are shown without the punctuation of JSON', () => {
    expect(formatAuditValue('features', '{"modules":["stock","labels"],"branches":5}')).to.equal(
      'modules: stock, labels; branches: 5',
    );
    expect(formatAuditValue('scopes', '["a:b"]')).to.equal('a:b');
    expect(formatAuditValue('features', '{}')).to.equal('none');
    expect(formatAuditValue('pattern', '[a-z]+ {2}')).to.equal('[a-z]+ {2}');
  });
});
