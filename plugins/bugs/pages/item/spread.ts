/** Which versions, environments, hosts and tags the kept occurrences have, as rows of a page. Pure. */
import type { Spread } from '../../lists/spread.js';
import type { About } from './about.js';

export const spread = ({ detail }: About): object => ({ spread: spreadRows(detail.spread) });

/** Rows of the spread; empty kinds are left out. */
export function spreadRows({ versions, environments, hosts, tags }: Spread): object[] {
  const named = Object.entries(tags).map(([key, shares]) => ({ label: key === 'tag' ? 'Tags' : key, shares }));
  const own = [
    { label: 'Versions', shares: versions },
    { label: 'Environments', shares: environments },
    { label: 'Hosts', shares: hosts },
  ];
  return [...own, ...named].filter(({ shares }) => shares.length > 0);
}
