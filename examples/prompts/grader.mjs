/** Half of the reward for notes that hold what they must, half for a reply that does. */
export default function grade({ task, output }) {
  const { notes, reply } = task.private;
  return (output?.includes(notes) ? 0.5 : 0) + (output?.includes(reply) ? 0.5 : 0);
}
