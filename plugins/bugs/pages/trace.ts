/** Which line of a stack trace a page marks: the frame that the grouping uses. Pure. */
import { parseFrames } from '../grouping/frames.js';

/** From 0, with line ends as the page shows them; null for a text without frames. */
export function firstFrameLine(stack: string): number | null {
  const frames = parseFrames(stack.replace(/\r\n?/g, '\n'));
  return frames.find(({ crash }) => crash)?.line ?? null;
}
