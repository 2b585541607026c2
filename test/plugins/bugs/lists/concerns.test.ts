import { expect } from 'chai';
import { groupByCause } from '../../../../plugins/bugs/lists/attention-groups.js';
import type { ErrorGroup } from '../../../../ports/domain/bugs.js';

const item = (id: string, more: Partial<ErrorGroup>): ErrorGroup =>
  ({
    id,
    ref: `shop-${id}`,
    project: 'shop',
    status: 'open',
    exception_class: 'RedisTimeoutError',
    file_path: 'src/redis.js',
    last_seen_at: '2026-11-20T08:00:00.000Z',
    trend: [0, 1],
    ...more,
  }) as ErrorGroup;

describe('bugs: priorities of the dashboard', () => {
  it('groups similar items, and sorts by hits, then by last occurrence', () => {
    const flood = Array.from({ length: 488 }, (_, i) =>
      item(`${i}`, { last_seen_at: `2026-11-20T07:${String(i % 60).padStart(2, '0')}:00.000Z` }),
    );
    const quiet = { trend: [0, 0], exception_class: null };
    const found = groupByCause([
      item('old', { ...quiet, last_seen_at: '2026-11-01T00:00:00.000Z' }),
      item('older', { ...quiet, last_seen_at: '2026-10-01T00:00:00.000Z' }),
      item('loud', { exception_class: 'TypeError', trend: [300, 300] }),
      ...flood,
    ]);
    expect(found.map(({ item: { id }, alike, hits }) => [id, alike, hits])).to.deep.equal([
      ['loud', 1, 600],
      ['59', 488, 488],
      ['old', 1, 0],
      ['older', 1, 0],
    ]);
    expect(found[1]?.trend).to.deep.equal([0, 488]);
  });

  it('separates items that differ in project, status, class or origin, or have no class', () => {
    const apart = [
      item('1', {}),
      item('2', { project: 'billing' }),
      item('3', { status: 'in_progress' }),
      item('4', { exception_class: 'TypeError' }),
      item('5', { file_path: 'src/other.js' }),
      item('6', { exception_class: null }),
      item('7', { exception_class: null }),
    ];
    expect(groupByCause(apart)).to.have.length(apart.length);
  });
});
