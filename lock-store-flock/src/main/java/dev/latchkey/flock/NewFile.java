package dev.latchkey.flock;

import static java.nio.file.attribute.PosixFilePermission.GROUP_READ;
import static java.nio.file.attribute.PosixFilePermission.GROUP_WRITE;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_READ;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_WRITE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static java.nio.file.attribute.PosixFilePermission.OWNER_WRITE;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;

/**
 * Creates lock files with the permissions of their directory: a user who may create files in it may use its locks.
 *
 * <p>A file is created under a temporary name, gets its group and permissions, and is then linked to its own name. So no
 * process ever sees it with other permissions: a user who could open it meanwhile could keep its lock forever, and a
 * process that is killed halfway would leave a file that others cannot use.
 */
final class NewFile {

    private final Path directory;

    private NewFile(Path directory) {
        this.directory = directory;
    }

    static NewFile in(Path directory) {
        return new NewFile(directory);
    }

    /** Creates the file, unless it exists. */
    void create(Path file) throws IOException {
        try {
            if (hasOwners()) {
                createWithRights(file);
            } else {
                Files.createFile(file);
            }
        } catch (FileAlreadyExistsException e) {
            // Another process has created it.
        }
    }

    /** FAT has none, though its system has. */
    private boolean hasOwners() {
        try {
            return Files.getFileStore(directory).supportsFileAttributeView("posix");
        } catch (IOException e) {
            // Java looks for the mount point, which nobody sees from within a chroot that is none itself.
            return directory.getFileSystem().supportedFileAttributeViews().contains("posix");
        }
    }

    private void createWithRights(Path file) throws IOException {
        Path unnamed = directory.resolve(".new-" + UUID.randomUUID());
        Files.createFile(unnamed, PosixFilePermissions.asFileAttribute(EnumSet.of(OWNER_READ, OWNER_WRITE)));
        try {
            setRights(unnamed);
            link(unnamed, file);
        } finally {
            Files.deleteIfExists(unnamed);
        }
    }

    private void setRights(Path file) throws IOException {
        Set<PosixFilePermission> permissions = permissionsAs(Files.getPosixFilePermissions(directory));
        if (permissions.contains(GROUP_WRITE) && !permissions.contains(OTHERS_WRITE)) {
            giveTheDirectorysGroup(file);
        }
        Files.setPosixFilePermissions(file, permissions);
    }

    /**
     * Gives a file that may have been created by opening it the rights it would have from {@link #create}. One that is in use
     * is not empty, and keeps its own.
     */
    void giveRights(Path file) throws IOException {
        try {
            if (hasOwners() && Files.size(file) == 0) {
                setRights(file);
            }
        } catch (FileSystemException e) {
            // Deleted again; or created by another user, who gives it its rights.
        }
    }

    /** The kernel does so itself only if the directory has the set-group-ID bit, or on BSD. */
    private void giveTheDirectorysGroup(Path unnamed) throws IOException {
        Object group = Files.getAttribute(directory, "unix:gid");
        if (Files.getAttribute(unnamed, "unix:gid").equals(group)) {
            return;
        }
        try {
            Files.setAttribute(unnamed, "unix:gid", group);
        } catch (FileSystemException e) {
            AccessDeniedException denied = new AccessDeniedException(
                    directory.toString(),
                    null,
                    "this user is not in the directory's group, which could not use a file made by it: "
                            + "chmod g+s the directory, or add the user to the group");
            denied.initCause(e);
            throw denied;
        }
    }

    private static void link(Path unnamed, Path file) throws IOException {
        try {
            Files.createLink(file, unnamed);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (FileSystemException | UnsupportedOperationException e) {
            // A file system without hard links, such as FAT: its files have the permissions it is mounted with.
            Files.createFile(file);
        }
    }

    private static Set<PosixFilePermission> permissionsAs(Set<PosixFilePermission> ofDirectory) {
        Set<PosixFilePermission> permissions = EnumSet.of(OWNER_READ, OWNER_WRITE);
        if (ofDirectory.contains(GROUP_WRITE)) {
            permissions.addAll(EnumSet.of(GROUP_READ, GROUP_WRITE));
        }
        if (ofDirectory.contains(OTHERS_WRITE)) {
            permissions.addAll(EnumSet.of(OTHERS_READ, OTHERS_WRITE));
        }
        return permissions;
    }
}
