/** Lines of comments that are too long. */

export const WIDTH = 120;

/** A line that is a comment, or code with a comment behind it. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*)|\s\/\/\s/;

/** Numbers of the lines. Pure. */
export const longCommentsOf = (text: string): number[] =>
  text.split('\n').flatMap((line, at) => (line.length > WIDTH && COMMENT.test(line) ? [at + 1] : []));
