import { type Member, meanScore } from './candidate.ts';

/**
 * The beam of the next round: the `width` members with the best means. Of equals the earlier one stays, so that a
 * change has to be an improvement; a member without any grade comes last.
 */
export function nextBeam(members: readonly Member[], width: number): Member[] {
  return members
    .map((member, order) => ({ member, order, mean: meanScore(member.scores) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => (a.mean === b.mean ? a.order - b.order : b.mean > a.mean ? 1 : -1))
    .slice(0, width)
    .map(({ member }) => member);
}
