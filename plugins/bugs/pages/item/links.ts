import { LINK_KINDS, type LinkKind } from '../../item/link-kinds.js';
import type { About } from './about.js';

const SAYS: Record<LinkKind, string> = {
  related: 'is related to',
  blocks: 'blocks',
  blocked_by: 'is blocked by',
  discovered_from: 'was discovered in',
  discovered: 'led to',
};

export const linkSays = (kind: string): string => (Object.hasOwn(SAYS, kind) ? SAYS[kind as LinkKind] : kind);

const KINDS = LINK_KINDS.map((kind) => ({ value: kind, label: SAYS[kind] }));

export const links = ({ detail }: About): object => ({
  links: detail.links.map((link) => ({ ...link, says: SAYS[link.kind] })),
  link_kinds: KINDS,
});
