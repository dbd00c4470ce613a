/**
 * Random schedules of the real engine, in virtual time: {@link dev.latchkey.fuzz.Fuzz} runs them, {@link dev.latchkey.fuzz.World}
 * decides who goes on, {@link dev.latchkey.fuzz.Border} what becomes of a request, and {@link dev.latchkey.fuzz.Subject} judges.
 */
@NullMarked
package dev.latchkey.fuzz;

import org.jspecify.annotations.NullMarked;
