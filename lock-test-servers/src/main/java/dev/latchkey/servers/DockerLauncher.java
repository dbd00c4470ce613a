package dev.latchkey.servers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs a program in a container, in the network of this machine and on its files: it then has the address and the data
 * that a process would have, so that servers find each other, and a killed one comes back where it was. Only loaded when
 * Testcontainers is on the class path.
 */
record DockerLauncher(String image, String program) implements Launcher {

    static boolean isAvailable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    @Override
    @SuppressWarnings("resource") // Ended by Launched.kill(), and by Testcontainers when this JVM ends.
    public Launched launch(Path directory, List<String> arguments) {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withNetworkMode("host")
                .withFileSystemBind(directory.toString(), directory.toString(), BindMode.READ_WRITE)
                .withWorkingDirectory(directory.toString())
                .withCreateContainerCmdModifier(
                        command -> command.withEntrypoint(program).withUser(ownerOf(directory)))
                .withCommand(arguments.toArray(String[]::new));
        container.start();
        return new Running(container);
    }

    /** So that what it writes can be deleted by this process. */
    private static String ownerOf(Path directory) {
        try {
            return Files.getAttribute(directory, "unix:uid") + ":" + Files.getAttribute(directory, "unix:gid");
        } catch (IOException e) {
            throw new UncheckedIOException("the owner of " + directory + " is unknown", e);
        }
    }

    @Override
    public String toString() {
        return "the image " + image;
    }

    private record Running(GenericContainer<?> container) implements Launched {

        private static DockerClient docker() {
            return DockerClientFactory.instance().client();
        }

        @Override
        public boolean isAlive() {
            try {
                ContainerState state = docker().inspectContainerCmd(container.getContainerId())
                        .exec()
                        .getState();
                return Boolean.TRUE.equals(state.getRunning());
            } catch (NotFoundException e) {
                return false;
            }
        }

        @Override
        public void kill() {
            container.stop();
        }

        @Override
        public void freeze() {
            docker().pauseContainerCmd(container.getContainerId()).exec();
        }

        @Override
        public void thaw() {
            docker().unpauseContainerCmd(container.getContainerId()).exec();
        }

        @Override
        public String log() {
            return container.getLogs();
        }
    }
}
