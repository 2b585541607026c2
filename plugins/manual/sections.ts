import { AnchorGenerator, type ManualPage } from '../../ports/manual.js';

export interface GuideSection {
  /** Plain heading; the page's title before the first heading. */
  heading: string;
  /** 1 to 6. */
  level: number;
  anchor: string;
  text: string;
}

const toPlainText = (markdown: string): string => markdown.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1').trim();

export const getPageTitle = ({ name, text }: ManualPage): string => toPlainText(/^# +(.+)$/m.exec(text)?.[1] ?? name);

export const getPageBody = ({ text }: ManualPage): string => text.replace(/^# +.+\n/m, '');

export function parseSections(page: ManualPage): GuideSection[] {
  const sections: GuideSection[] = [{ heading: getPageTitle(page), level: 1, anchor: '', text: '' }];
  const anchors = new AnchorGenerator();
  let fence: string | null = null;
  for (const line of page.text.split('\n')) {
    const mark = /^ *(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (mark !== null && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark.slice(0, 3) : null;
    const head = fence === null ? /^(#{1,6}) +(.+?)(?: +#+)?$/.exec(line) : null;
    if (head === null) {
      (sections.at(-1) as GuideSection).text += `${line}\n`;
      continue;
    }
    const [, marks = '', title = ''] = head;
    const heading = toPlainText(title);
    const anchor = anchors.createAnchor(title.replaceAll('`', ''));
    if (marks.length > 1) sections.push({ heading, level: marks.length, anchor, text: '' });
  }
  return sections;
}
